import JobFormat
package import LinuxIO
package import PushModel
package import SpoolModel
import SpoolStore

/// The feedback files of some apps of a spool, in the order of publication over all apps and nodes.
///
/// Consumers can create and rename files in `feedback/`. A file that is not the daemon's, or that cannot be read, is
/// skipped and reported, and holds up no other.
package final class FeedbackFiles {
    /// A feedback file of an app.
    package struct File: Comparable, Sendable {
        /// Its name.
        let name: FeedbackFileName
        /// The app.
        package let app: String

        /// The time of publication, if the name contains it.
        package var publishedAt: WallTime? { FeedbackFileName.time(of: name.bytes) }

        /// Moves a cursor past it.
        package func pass(_ cursor: inout FeedbackCursor) { cursor.pass(name) }

        /// The path relative to the spool.
        package var path: String { "\(app)/feedback/\(text)" }

        /// The name as text, escaped, since consumers may have created the file.
        private var text: String { FileName(bytes: name.bytes)?.escaped ?? "" }

        package static func < (left: File, right: File) -> Bool { (left.name, left.app) < (right.name, right.app) }
    }

    /// A file or folder that was not read. Others are.
    package struct Skipped: Sendable {
        /// The path relative to the spool.
        package let path: String
        /// Why it was not read, with the path.
        package let message: String
        /// What an operator can do.
        package let hint: String
    }

    /// The most skipped files that are reported: consumers can create any number.
    private static let skippedLimit = 100
    /// The most names kept in memory at a time.
    package static let mostFiles = 65_536
    /// How long a folder must be unchanged before its timestamp can be trusted, given its resolution: the kernel's
    /// clock tick, or a second or more where the filesystem stores no fraction or another host sets it.
    private static let (settled, settledCoarsely) = (Duration.milliseconds(100), Duration.seconds(2))

    /// The spool's path, which may lead to another folder later.
    private let spool: String
    private let apps: [String]
    private var cursors: [String: FeedbackCursor] = [:]
    /// The modification times of folders without new files that had been unchanged for `settled`.
    private var quiet: [String: Int64] = [:]
    /// The paths that were skipped, and those not yet taken.
    private var skippedPaths: Set<String> = []
    private var skipped: [Skipped] = []

    /// The folder that has the spool's path now.
    private var root: Directory { get throws(SystemError) { try Directory.open(path: spool) } }

    /// Creates it for these apps, or for all apps if the list is empty.
    package init(spool: String, apps: [String]) {
        (self.spool, self.apps) = (spool, apps)
    }

    /// Creates it for the files of an app after a cursor.
    package init(spool: String, app: String, after cursor: FeedbackCursor) {
        (self.spool, apps, cursors) = (spool, [app], [app: cursor])
    }

    /// What has been read of an app's files.
    package func cursor(of app: String) -> FeedbackCursor { cursors[app] ?? FeedbackCursor() }

    /// The next files in order that have not been passed, at most `limit`; empty if there are none for now. Skips files
    /// that are not the daemon's; they do not move the cursor, and so hide no other file.
    ///
    /// - Throws: `SystemError`: the folder of a named app does not exist, or a folder cannot be read.
    package func nextFiles(limit: Int = mostFiles) throws(SystemError) -> [File] {
        var least = LeastElements<File>(limit: limit)
        let apps = apps.isEmpty ? try QueueListing.apps(in: root) : apps
        for app in apps { try list(app, into: &least) }
        return least.sorted
    }

    /// Marks a file as read.
    package func pass(_ file: File) {
        cursors[file.app, default: FeedbackCursor()].pass(file.name)
    }

    /// Marks all files that exist now as read.
    ///
    /// - Throws: `SystemError`: a folder cannot be read.
    package func passAll() throws(SystemError) {
        while true {
            let files = try nextFiles()
            guard !files.isEmpty else { return }
            for file in files { pass(file) }
        }
    }

    /// Returns what was skipped since the last call; each path once.
    package func takeSkipped() -> [Skipped] {
        defer { skipped = [] }
        return skipped
    }

    /// Calls `body` once for each file of an app, in order.
    ///
    /// - Returns: The paths that were skipped: files, or the folder if permission is denied.
    /// - Throws: `SystemError`: the folder cannot be read, for a reason other than permissions; errors of `body`.
    package static func readFiles(
        of app: String, in root: Directory, _ body: (File, FeedbackFiles) throws -> Void
    ) throws -> [String] {
        let feedback = FeedbackFiles(spool: root.path, apps: [app])
        while true {
            let files: [File]
            do {
                files = try feedback.nextFiles()
            } catch {
                guard error.isRefusal else { throw error }
                return feedback.takeSkipped().map(\.path) + ["\(app)/feedback"]
            }
            guard !files.isEmpty else { return feedback.takeSkipped().map(\.path) }
            for file in files {
                try body(file, feedback)
                feedback.pass(file)
            }
        }
    }

    /// Reads a file line by line, and marks it as read.
    ///
    /// - Returns: `false` if there was nothing to read: a consumer has removed the file, or it was skipped.
    /// - Throws: `SystemError`: for example EIO; errors of `body`.
    @discardableResult
    package func read(_ file: File, _ body: (Int, JSONLines.Line) throws -> Void) throws -> Bool {
        guard let opened = try open(file) else {
            pass(file)
            return false
        }
        try JSONLines.read(opened, body)
        pass(file)
        return true
    }

    /// Opens a file, to read it bit by bit; `nil` if a consumer has removed it, or it was skipped.
    ///
    /// - Throws: `SystemError`: for example EMFILE or EIO.
    package func open(_ file: File) throws(SystemError) -> OpenFile? {
        do throws(SystemError) {
            let home = try root.openChild(Array(file.app.utf8))
            let opened = try home.openChild(Array("feedback".utf8)).openRegular(file.name.bytes)
            // The name may have been given to another file since the listing.
            guard let objection = try FeedbackWriters(of: home).objection(to: opened.status()) else { return opened }
            skip(file, objection)
        } catch {
            if error.isNotFound { return nil }
            guard error.isOfOneFile else { throw error }
            skip(file.path, because: error)
        }
        return nil
    }

    /// Removes a file whose lines have been processed.
    ///
    /// - Throws: `SystemError`: permission is denied.
    func remove(_ file: File) throws(SystemError) {
        try root.openChild(Array(file.app.utf8)).openChild(Array("feedback".utf8)).unlink(file.name.bytes)
    }

    private func skip(_ file: File, _ objection: String) {
        let hint = "check who can write to feedback/, then remove the file"
        skip(Skipped(path: file.path, message: "\(file.path): \(objection)", hint: hint))
    }

    private func skip(_ path: String, because error: SystemError) {
        let message = error.isRefusal ? "no permission to read \(path)" : "\(path): \(error)"
        let hint =
            if error.isRefusal {
                "run as the daemon's user or a member of the group of feedback/"
            } else if error.isNoDirectory || error.isSymbolicLink {
                "move it away: the daemon makes a folder in its place"
            } else {
                "check the file and its filesystem"
            }
        skip(Skipped(path: path, message: message, hint: hint))
    }

    private func skip(_ file: Skipped) {
        guard skippedPaths.count < Self.skippedLimit, skippedPaths.insert(file.path).inserted else { return }
        skipped.append(file)
        guard skippedPaths.count == Self.skippedLimit else { return }
        let message = "more files than these are skipped without a message"
        skipped.append(Skipped(path: file.path, message: message, hint: file.hint))
    }

    private func list(_ app: String, into least: inout LeastElements<File>) throws(SystemError) {
        let home: Directory
        let folder: Directory
        var path = app
        do throws(SystemError) {
            home = try root.openChild(Array(app.utf8))
            path = "\(app)/feedback"
            folder = try home.openChild(Array("feedback".utf8))
        } catch {
            // An app that was never started has no such folder, and some consumers remove it.
            if error.isNotFound, path != app || apps.isEmpty { return }
            // The folder of one app must not hold up the others.
            guard apps.isEmpty, error.isOfOneFile || error.isNoDirectory else { throw error }
            return skip(path, because: error)
        }
        try list(folder, of: app, by: try FeedbackWriters(of: home), into: &least)
    }

    private func list(
        _ folder: Directory, of app: String, by writers: FeedbackWriters, into least: inout LeastElements<File>
    ) throws(SystemError) {
        let changedAt = try folder.status().modifiedAt
        guard quiet[app] != changedAt else { return }
        let isSettled = try isSettled(folder, changedAt: changedAt)
        let cursor = cursors[app] ?? FeedbackCursor()
        var isEmpty = true
        var listing = try folder.listing()
        while let entry = try listing.next() {
            guard let name = FeedbackFileName(entry.name), cursor.isNew(name) else { continue }
            let file = File(name: name, app: app)
            guard least.mayKeep(file) else {
                isEmpty = false
                continue
            }
            guard let status = try folder.status(of: entry.name) else { continue }
            if let objection = writers.objection(to: status) {
                skip(file, objection)
            } else {
                isEmpty = false
                least.add(file)
            }
        }
        quiet[app] = isEmpty && isSettled ? changedAt : nil
    }

    private func isSettled(_ folder: Directory, changedAt: Int64) throws(SystemError) -> Bool {
        let hasFraction = changedAt % 1_000_000_000 != 0
        let isCoarse = try hasFraction ? folder.filesystemType().isShared : true
        let age = WallTime(nanoseconds: WallClock.nanoseconds()) - WallTime(nanoseconds: changedAt)
        return age > (isCoarse ? Self.settledCoarsely : Self.settled)
    }
}
