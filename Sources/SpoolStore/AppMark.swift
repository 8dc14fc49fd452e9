import LinuxIO

/// A line about an app that is kept across restarts, in a file of its own in the state folder.
///
/// Calls block.
struct AppMark: Sendable {
    private let folder: Directory
    private let name: String

    /// Creates the mark of an app; `kind` is a word that no other kind of mark begins with.
    init(_ kind: String, of app: String, in state: Directory) {
        (folder, name) = (state, "\(kind)-\(app)")
    }

    /// The file's path, for messages.
    var path: String { folder.path + "/" + name }

    /// Returns the line; `nil` if there is no mark yet, or it is longer than `limit` bytes.
    ///
    /// - Throws: `SystemError`: the mark cannot be read.
    func read(limit: Int) throws(SystemError) -> [UInt8]? {
        try folder.contentsIfThere(of: Array(name.utf8), limit: limit + 1)?.filter { $0 != UInt8(ascii: "\n") }
    }

    /// Replaces the mark in one step. A power loss may restore an older one.
    ///
    /// - Throws: `SystemError`: the volume is full or not writable. The old mark is intact.
    func write(_ line: [UInt8]) throws(SystemError) {
        // No kind begins with a dot, so no mark has this name.
        try folder.replace(Array(name.utf8), by: Array(".\(name)".utf8), mode: 0o600) { (file) throws(SystemError) in
            try file.write(line + [UInt8(ascii: "\n")])
            // Sync the bytes before the rename, or a power loss could leave a name without content.
            try file.syncDraft(.state)
        }
    }
}
