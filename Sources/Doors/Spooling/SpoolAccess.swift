import Configuration
import Document
import DoorModel
import JSON
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SpoolClient
import SpoolModel
import SpoolStore

/// Why a door accepts nothing.
struct DoorTrouble: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The apps of a spool, and the room for jobs that the limits leave. Calls block.
///
/// Not Sendable: each actor that writes has its own.
final class SpoolAccess {
    private let spool: String
    private var (unknown, unreadable): (Troubles, Troubles)
    private let waitingLimit: Int
    private var folders: [String: AppFolder] = [:]
    private var space: SpaceWatch
    /// When to look at the free space again.
    private var nextLook = Moment.zero

    /// How long a look at the free space counts.
    private static let freshness = Duration.seconds(1)

    /// Checks that the spool can be opened. Each job goes to the folder that has the spool's path when it is dropped.
    ///
    /// - Throws: `SystemError`: it cannot be opened.
    init(_ configuration: DoorConfiguration, _ logger: Logger) throws(SystemError) {
        spool = configuration.spool
        _ = try Directory.open(path: spool)
        unknown = Troubles(("apps are unknown", "apps are known again"), hint: "start the daemon", logger)
        unreadable = Troubles(
            ("list of apps cannot be read", "list of apps can be read again"), about: LogKey.node, logger)
        waitingLimit = configuration.waitingLimit
        space = SpaceWatch(floor: SpaceFloor(byteCount: configuration.freeSpace))
    }

    /// Drops a job for an app with `body`, if the limits allow one more.
    ///
    /// - Throws: `DoorTrouble`: a limit is reached; errors of `body`.
    func use<Result>(_ app: String, _ body: (Submission) throws -> Result) throws -> Result {
        try requireSpace()
        let folder = try folder(of: app)
        do {
            let result = try body(folder.submission)
            folder.droppedCount += 1
            return result
        } catch {
            // The folder may have been replaced, by one with more jobs.
            folders[app] = nil
            throw error
        }
    }

    /// Requires that a job could be dropped for an app, as far as that is known without creating a file.
    ///
    /// - Throws: `DoorTrouble`: a limit is reached; `SpoolClientError`, `SystemError`: its folders cannot be used.
    func requireRoom(_ app: String) throws { try folder(of: app).submission.requireWay() }

    /// Requires that a job could be dropped for an app, and tries it with an empty file that is never a job.
    ///
    /// - Throws: As `requireRoom`.
    func rehearse(_ app: String) throws { try folder(of: app).submission.rehearse() }

    /// Returns the folders of an app in which fewer jobs wait than the limit.
    private func folder(of app: String) throws -> AppFolder {
        let folder = try folders[app] ?? AppFolder(app, in: spool, limit: waitingLimit)
        folders[app] = folder
        guard try folder.hasRoom(at: .now) else {
            throw DoorTrouble(
                "more than \(waitingLimit) jobs wait in new/; start the daemon, or raise limits.waiting")
        }
        return folder
    }

    /// Opens an app's `tmp/`.
    ///
    /// - Throws: `SystemError`: it does not exist, or may not be read.
    func openTmp(of app: String) throws(SystemError) -> Directory {
        try Directory.open(path: spool).openChild(Array(app.utf8)).openChild(Array("tmp".utf8))
    }

    /// Requires that the limit of free space allows more bytes.
    ///
    /// - Throws: `DoorTrouble`: it does not; `SystemError`.
    func requireSpace() throws {
        if Moment.now >= nextLook {
            nextLook = .now + Self.freshness
            _ = space.mayClaim(with: try Directory.open(path: spool).filesystemSpace())
        }
        if space.isShort {
            throw DoorTrouble("the volume has too little free space; free some, or lower limits.free_space")
        }
    }

    // MARK: Apps

    /// Reads the lists of apps that the daemons published. One that cannot be read is left out.
    ///
    /// - Returns: The router over all of them; `nil` if there is none that can be read.
    func router() -> AppRouter? {
        do {
            var parser = JSON.Parser()
            let found = try Spool.publishedApps(in: try Directory.open(path: spool), &parser) { node, error in
                unreadable.note(error, about: String(decoding: node, as: UTF8.self))
            }
            unknown.note(found.isEmpty ? DoorTrouble("no daemon has published its list of apps") : nil)
            return found.isEmpty ? nil : AppRouter(found)
        } catch {
            unknown.note(error)
            return nil
        }
    }
}

/// The way to the folders of one app, and how many jobs wait in them, as far as the limit goes.
private final class AppFolder {
    let submission: Submission
    private let (app, spool): (String, String)
    private var count: FolderCount
    private let limit: Int
    /// The number of jobs that waited when they were counted last.
    private var countedCount = 0
    private var nextCount = Moment.zero
    /// How many jobs were dropped since.
    var droppedCount = 0

    init(_ app: String, in spool: String, limit: Int) throws(SpoolClientError) {
        submission = try Submission(app: app, spool: spool)
        (self.app, self.spool) = (app, spool)
        count = FolderCount(limit: limit)
        self.limit = limit
    }

    /// Whether fewer jobs wait than the limit. Counts only if there may be too many: the daemon takes jobs away.
    func hasRoom(at now: Moment) throws(SystemError) -> Bool {
        if nextCount != .zero, countedCount + droppedCount < limit { return true }
        if now >= nextCount {
            let new = try Directory.open(path: spool).openChild(Array(app.utf8)).openChild(Array("new".utf8))
            countedCount = try count.look(at: new, now: .now)
            (droppedCount, nextCount) = (0, now + .seconds(1))
        }
        return countedCount + droppedCount < limit
    }
}
