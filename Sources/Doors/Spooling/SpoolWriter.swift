import APNSGateway
import APNSModel
import Document
import DoorConfiguration
import DoorModel
import JSON
import JobOperations
import LinuxIO
import Logging
import SpoolClient
import SpoolModel
import SpoolStore

/// A job that a door drops.
struct DroppedJob: Sendable {
    /// The app.
    let app: String
    /// The beginning and end of the file's name.
    let name: String
    /// The content.
    let bytes: [UInt8]
    /// The records of the ids in it, for the log of ids.
    let records: [UInt8]
}

/// Writes jobs into the spool for the doors, as far as the limits allow, and reads which apps there are.
///
/// It has a thread of its own, because files block.
actor SpoolWriter {
    private let worker: WorkerThread
    private let spool: Directory
    private let log: IDLog
    private let logger: Logger
    private let waitingLimit: Int
    private var folders: [String: AppFolder] = [:]
    private var space: SpaceWatch
    /// When to look at the free space again.
    private var nextLook = Moment.zero
    /// Why the last job was not dropped; `nil`: it was.
    private var trouble: String?

    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// How long a look at the free space, or at the jobs that wait, counts.
    private static let freshness = Duration.seconds(1)

    /// Opens the spool and the log of ids. Blocks.
    ///
    /// - Returns: The writer, and the ids that were spooled lately.
    /// - Throws: `SystemError`: the spool or the state folder cannot be used, or there is no thread left.
    static func open(
        _ configuration: DoorConfiguration, _ logger: Logger
    ) throws(SystemError) -> (writer: SpoolWriter, known: [(key: RecentIDs.Key, time: WallTime)]) {
        let state = try Directory.open(path: configuration.state)
        let lifetime = configuration.relay?.dedupe ?? .zero
        let (log, known) = try IDLog.open(in: state, lifetime: lifetime)
        return (try SpoolWriter(configuration, log, logger), known)
    }

    private init(
        _ configuration: DoorConfiguration, _ log: sending IDLog, _ logger: Logger
    ) throws(SystemError) {
        worker = try WorkerThread(name: "spool")
        spool = try Directory.open(path: configuration.spool)
        (self.log, self.logger) = (log, logger)
        waitingLimit = configuration.waitingLimit
        space = SpaceWatch(floor: SpaceFloor(byteCount: configuration.freeSpace))
    }

    // MARK: Jobs

    /// Drops a job: once this returns `true`, it survives a power loss.
    ///
    /// - Returns: Whether it was dropped. If not, the log says why, once for each cause.
    func drop(_ job: DroppedJob) -> Bool {
        do {
            try write(job)
        } catch {
            note("\(error)", about: job.app)
            return false
        }
        note(nil, about: job.app)
        logIDs(job.records)
        return true
    }

    /// Forgets ids whose requests may come again.
    func forget(_ keys: [RecentIDs.Key]) {
        var records: [UInt8] = []
        for key in keys { key.appendRecord(at: RecentIDs.Key.forgotten, to: &records) }
        logIDs(records)
    }

    private func logIDs(_ records: [UInt8]) {
        do {
            try log.append(records)
        } catch {
            logger.warning("ids cannot be logged", metadata: [LogKey.error: "\(error)"])
        }
    }

    private func write(_ job: DroppedJob) throws {
        try requireSpace()
        let folder = try folders[job.app] ?? AppFolder(job.app, in: spool, limit: waitingLimit)
        folders[job.app] = folder
        do {
            guard try folder.hasRoom(at: .now) else {
                throw DoorTrouble(
                    "more than \(waitingLimit) jobs wait in new/; start the daemon, or raise limits.waiting")
            }
            try folder.submission.submit(job.bytes, name: job.name)
            folder.droppedCount += 1
        } catch {
            // The folder may have been replaced.
            folders[job.app] = nil
            throw error
        }
    }

    private func requireSpace() throws {
        if Moment.now >= nextLook {
            nextLook = .now + Self.freshness
            _ = space.mayClaim(with: try spool.filesystemSpace())
        }
        if space.isShort {
            throw DoorTrouble("the volume has too little free space; free some, or lower limits.free_space")
        }
    }

    private func note(_ error: String?, about app: String) {
        guard error != trouble else { return }
        if let error {
            logger.error("requests are refused", metadata: [LogKey.app: "\(app)", LogKey.error: "\(error)"])
        } else {
            logger.notice("requests are accepted again", metadata: [LogKey.app: "\(app)"])
        }
        trouble = error
    }

    // MARK: Apps

    /// Returns the lists of apps that the daemons published, the newest first. One that cannot be read is left out.
    ///
    /// - Returns: `nil` if there is none that can be read.
    func appLists() -> [AppList]? {
        var found: [(list: AppList, writtenAt: Int64)] = []
        do {
            let folder = try spool.openChild(Array(".pushspool".utf8)).openChild(Array("public".utf8))
            for node in try folder.names() {
                do {
                    if let list = try appList(of: node, in: folder) { found.append(list) }
                } catch {
                    logger.warning("list of apps cannot be read", metadata: [LogKey.error: "\(error)"])
                }
            }
        } catch {
            logger.warning("apps are unknown", metadata: [LogKey.error: "\(error)", LogKey.hint: "start the daemon"])
        }
        return found.isEmpty ? nil : found.sorted { $0.writtenAt > $1.writtenAt }.map(\.list)
    }

    private func appList(of node: [UInt8], in folder: Directory) throws -> (list: AppList, writtenAt: Int64)? {
        let place = try folder.openChild(node)
        guard try place.status(of: Array(AppList.fileName.utf8)) != nil else { return nil }
        let file = try place.openRegular(Array(AppList.fileName.utf8))
        let writtenAt = try file.status().modifiedAt
        guard let bytes = try file.contents(limit: Self.listLimit) else { return nil }
        var parser = JSON.Parser()
        guard let list = AppList(try parser.parse(bytes).root) else {
            throw DoorTrouble("\(file.path) has another version, or is damaged")
        }
        return (list, writtenAt)
    }

    private static let listLimit = 64 << 20
}

/// Why a door takes nothing in.
struct DoorTrouble: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The folders of one app, and how many jobs wait in them, as far as the limit goes.
private final class AppFolder {
    let submission: Submission
    private let new: Directory
    private var count: FolderCount
    private let limit: Int
    /// The number of jobs that waited when they were counted last.
    private var countedCount = 0
    private var nextCount = Moment.zero
    /// How many jobs were dropped since.
    var droppedCount = 0

    init(_ app: String, in spool: Directory, limit: Int) throws {
        submission = try Submission(app: app, spool: spool.path)
        new = try spool.openChild(Array(app.utf8)).openChild(Array("new".utf8))
        count = FolderCount(limit: limit)
        self.limit = limit
    }

    /// Whether fewer jobs wait than the limit. Counts only if there may be too many: the daemon takes jobs away.
    func hasRoom(at now: Moment) throws(SystemError) -> Bool {
        if nextCount != .zero, countedCount + droppedCount < limit { return true }
        if now >= nextCount {
            countedCount = try count.look(at: new, now: .now)
            (droppedCount, nextCount) = (0, now + .seconds(1))
        }
        return countedCount + droppedCount < limit
    }
}
