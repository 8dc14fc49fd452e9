import LinuxIO

/// The path of an app's folder. Operators move, restore and mount folders, so it may lead to another folder at any time.
struct AppPlace: Sendable {
    private let spool: String
    private let app: [UInt8]

    /// Checks that the path leads to an app that may be used.
    init(app: String, spool: String) throws(SpoolClientError) {
        // The process may change its working directory later.
        let isRelative = !spool.hasPrefix("/")
        self.spool = isRelative ? (Host.workingFolder.map { $0 + "/" } ?? "") + spool : spool
        self.app = Array(app.utf8)
        _ = try translating(open)
    }

    /// Opens the folder to which the path leads now.
    func open() throws(SystemError) -> Directory { try Directory.open(path: spool).openChild(app) }

    /// Opens a folder of the app to which the path leads now.
    func open(_ name: String) throws(SystemError) -> Directory { try open().openChild(Array(name.utf8)) }

    /// Whether the path leads to a folder that was opened before.
    func leads(to folder: Directory, as name: String) throws(SystemError) -> Bool {
        do {
            return try FolderPlace.entry(Array(name.utf8), of: open()).leads(to: folder)
        } catch {
            guard error.isNotFound || error.isNoDirectory || error.isSymbolicLink || error.isStale else { throw error }
            return false
        }
    }
}
