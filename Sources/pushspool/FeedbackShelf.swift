import APNSModel
import LinuxIO
import SpoolModel
import SpoolStore

/// The feedback of some apps of a spool: file after file in the order of publication, over all apps and nodes.
struct FeedbackShelf {
    /// A file of an app.
    struct File: Comparable, Sendable {
        /// Its name.
        let name: FeedbackFileName
        /// The app.
        let app: String

        /// When it was published, if its name tells.
        var publishedAt: WallTime? { FeedbackFolder.time(of: name.bytes) }

        /// Its path in the spool.
        var path: String { "\(app)/feedback/\(text)" }

        /// Its name as text, escaped: consumers may have put it there.
        private var text: String { FileName(bytes: name.bytes)?.escaped ?? "" }

        static func < (left: File, right: File) -> Bool { (left.name, left.app) < (right.name, right.app) }
    }

    /// A file that cannot be opened, or is none, which says nothing of the others.
    struct Unreadable: Error {
        /// What came of opening it.
        let cause: SystemError
    }

    /// How many names are kept in memory at a time.
    private static let sliceCount = 65_536
    /// For how long a folder must not have changed to be known not to, whatever the grain of its times is.
    private static let settled = Duration.seconds(2)

    private let root: Directory
    private let apps: [String]
    private var cursors: [String: FeedbackCursor] = [:]
    /// The change times of folders that had nothing new, and had not changed for a while.
    private var quiet: [String: Int64] = [:]
    /// The folders that may not be read.
    private(set) var unreadable: Set<String> = []

    /// A shelf of these apps, or of all if there are none among them.
    init(root: Directory, apps: [String]) {
        (self.root, self.apps) = (root, apps)
    }

    /// The next files that were not passed, in order; none if there are no more for now.
    ///
    /// - Throws: `SystemError`: an app that was named has no folder, or one cannot be read.
    mutating func nextFiles() throws(SystemError) -> [File] {
        var least = LeastElements<File>(limit: Self.sliceCount)
        let apps = apps.isEmpty ? try QueueListing.apps(in: root) : apps
        for app in apps { try list(app, into: &least) }
        return least.sorted
    }

    /// Counts a file as read.
    mutating func pass(_ file: File) {
        cursors[file.app, default: FeedbackCursor()].pass(file.name)
    }

    /// Goes once through the files of an app, in order; one that somebody removes meanwhile is passed over.
    ///
    /// - Returns: The paths of what cannot be read: files, or the folder, if it may not be.
    /// - Throws: `SystemError`: the folder cannot be read, for another reason than missing rights; whatever `body` throws.
    static func readFiles(
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
                    // Whoever reads it removed it meanwhile.
                } catch is Unreadable {
                    unreadable.append(file.path)
                }
                shelf.pass(file)
            }
        }
    }

    /// Reads a file line by line.
    ///
    /// - Throws: `Unreadable`: it cannot be opened, or is no file; `SystemError` with ENOENT when somebody has removed
    ///   it, or another; whatever `body` throws.
    func read(_ file: File, _ body: (Int, JSONLines.Line) throws -> Void) throws {
        try JSONLines.read(try open(file), body)
    }

    private func open(_ file: File) throws -> OpenFile {
        do {
            return try folder(of: file.app).openRegular(file.name.bytes)
        } catch {
            guard error.isOfOneFile else { throw error }
            throw Unreadable(cause: error)
        }
    }

    /// Removes a file whose lines are dealt with.
    ///
    /// - Throws: `SystemError`: we may not.
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
            // An app that has not been started has none, and some consumers remove it.
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
