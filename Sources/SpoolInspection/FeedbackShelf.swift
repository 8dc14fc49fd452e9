package import APNSModel
import JobFormat
package import LinuxIO
package import SpoolModel
import SpoolStore

/// The feedback files of some apps of a spool, in the order of publication over all apps and nodes.
package struct FeedbackShelf {
    /// A feedback file of an app.
    package struct File: Comparable, Sendable {
        /// Its name.
        let name: FeedbackFileName
        /// The app.
        package let app: String

        /// The time of publication, if the name contains it.
        package var publishedAt: WallTime? { FeedbackFolder.time(of: name.bytes) }

        /// Moves a cursor past it.
        package func pass(_ cursor: inout FeedbackCursor) { cursor.pass(name) }

        /// The path relative to the spool.
        package var path: String { "\(app)/feedback/\(text)" }

        /// The name as text, escaped, since consumers may have created the file.
        private var text: String { FileName(bytes: name.bytes)?.escaped ?? "" }

        package static func < (left: File, right: File) -> Bool { (left.name, left.app) < (right.name, right.app) }
    }

    /// The error that a file cannot be opened or is not a regular file. Other files may be readable.
    package struct Unreadable: Error, CustomStringConvertible {
        /// The error from opening the file.
        let cause: SystemError

        /// The error in words.
        package var description: String { cause.description }
    }

    /// The most names kept in memory at a time.
    private static let sliceCount = 65_536
    /// How long a folder must be unchanged before its timestamp can be trusted, given the coarse resolution of some
    /// filesystems.
    private static let settled = Duration.seconds(2)

    private let root: Directory
    private let apps: [String]
    private var cursors: [String: FeedbackCursor] = [:]
    /// The modification times of folders without new files that had been unchanged for `settled`.
    private var quiet: [String: Int64] = [:]
    /// The folders without read permission.
    package private(set) var unreadable: Set<String> = []

    /// Creates a shelf for these apps, or for all apps if the list is empty.
    package init(root: Directory, apps: [String]) {
        (self.root, self.apps) = (root, apps)
    }

    /// Creates a shelf for the files of an app after a cursor.
    package init(root: Directory, app: String, after cursor: FeedbackCursor) {
        (self.root, apps, cursors) = (root, [app], [app: cursor])
    }

    /// What has been read of an app's files.
    package func cursor(of app: String) -> FeedbackCursor { cursors[app] ?? FeedbackCursor() }

    /// The next files in order that have not been passed; empty if there are none for now.
    ///
    /// - Throws: `SystemError`: the folder of a named app does not exist, or a folder cannot be read.
    package mutating func nextFiles() throws(SystemError) -> [File] {
        var least = LeastElements<File>(limit: Self.sliceCount)
        let apps = apps.isEmpty ? try QueueListing.apps(in: root) : apps
        for app in apps { try list(app, into: &least) }
        return least.sorted
    }

    /// Marks a file as read.
    package mutating func pass(_ file: File) {
        cursors[file.app, default: FeedbackCursor()].pass(file.name)
    }

    /// Calls `body` once for each file of an app, in order. Skips a file that is removed in the meantime.
    ///
    /// - Returns: The paths that cannot be read: files, or the folder if permission is denied.
    /// - Throws: `SystemError`: the folder cannot be read, for a reason other than permissions; errors of `body`.
    package static func readFiles(
        of app: String, in root: Directory, _ body: (File, FeedbackShelf) throws -> Void
    ) throws -> [String] {
        var shelf = FeedbackShelf(root: root, apps: [app])
        var unreadable: [String] = []
        while true {
            let files: [File]
            do {
                files = try shelf.nextFiles()
            } catch {
                guard error.isRefusal else { throw error }
                return unreadable + ["\(app)/feedback"]
            }
            guard !files.isEmpty else { return unreadable }
            for file in files {
                do {
                    try body(file, shelf)
                } catch let error as SystemError where error.isNotFound {
                    // Its consumer has removed it in the meantime.
                } catch is Unreadable {
                    unreadable.append(file.path)
                }
                shelf.pass(file)
            }
        }
    }

    /// Reads a file line by line.
    ///
    /// - Throws: `Unreadable`: the file cannot be opened, or is not a regular file; `SystemError`, with ENOENT if the
    ///   file has been removed; errors of `body`.
    package func read(_ file: File, _ body: (Int, JSONLines.Line) throws -> Void) throws {
        try JSONLines.read(try open(file), body)
    }

    /// Opens a file, to read it bit by bit.
    ///
    /// - Throws: `Unreadable`: it cannot be opened, or is not a regular file; `SystemError`, with ENOENT if it has been removed.
    package func open(_ file: File) throws -> OpenFile {
        do {
            return try folder(of: file.app).openRegular(file.name.bytes)
        } catch {
            guard error.isOfOneFile else { throw error }
            throw Unreadable(cause: error)
        }
    }

    /// Removes a file whose lines have been processed.
    ///
    /// - Throws: `SystemError`: permission is denied.
    func remove(_ file: File) throws(SystemError) {
        try folder(of: file.app).unlink(file.name.bytes)
    }

    private func folder(of app: String) throws(SystemError) -> Directory {
        try root.openChild(Array(app.utf8)).openChild(Array("feedback".utf8))
    }

    private mutating func list(_ app: String, into least: inout LeastElements<File>) throws(SystemError) {
        let home: Directory
        let folder: Directory
        do {
            home = try root.openChild(Array(app.utf8))
        } catch {
            guard error.isRefusal, apps.isEmpty else { throw error }
            unreadable.insert(app)
            return
        }
        do {
            folder = try home.openChild(Array("feedback".utf8))
        } catch {
            // An app that was never started has no such folder, and some consumers remove it.
            if error.isNotFound { return }
            guard error.isRefusal, apps.isEmpty else { throw error }
            unreadable.insert("\(app)/feedback")
            return
        }
        try list(folder, of: app, into: &least)
    }

    private mutating func list(
        _ folder: Directory, of app: String, into least: inout LeastElements<File>
    ) throws(SystemError) {
        let changedAt = try folder.status().modifiedAt
        guard quiet[app] != changedAt else { return }
        let isSettled = WallTime(nanoseconds: WallClock.nanoseconds()) - WallTime(nanoseconds: changedAt) > Self.settled
        let cursor = cursors[app] ?? FeedbackCursor()
        var isEmpty = true
        var listing = try folder.listing()
        while let entry = try listing.next() {
            guard let name = FeedbackFileName(entry.name), cursor.isNew(name) else { continue }
            isEmpty = false
            least.add(File(name: name, app: app))
        }
        quiet[app] = isEmpty && isSettled ? changedAt : nil
    }
}
