package import JobFormat
package import LinuxIO

/// The name of the last feedback file that an app's hook received, kept across restarts in `hook-<app>` in the state folder.
///
/// Calls block.
package struct HookMark: Sendable {
    private var folder: Directory
    private let name: String

    /// Creates the mark of an app.
    package init(of app: String, in state: Directory) {
        folder = state
        name = "hook-\(app)"
    }

    /// The file's path, for messages.
    package var path: String { folder.path + "/" + name }

    /// Returns the name of the last file; `nil` if there is no mark yet.
    ///
    /// - Throws: `SystemError`: the mark cannot be read.
    package func read() throws(SystemError) -> FileName? {
        do throws(SystemError) {
            let bytes = try folder.contents(of: Array(name.utf8), limit: FileName.byteLimit + 1) ?? []
            return FileName(bytes: bytes.filter { $0 != UInt8(ascii: "\n") })
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    /// Begins a mark in another folder where this one is, unless there is one.
    ///
    /// - Throws: `SystemError`: a mark cannot be read or written.
    package func inherit(to folder: Directory) throws(SystemError) {
        var copy = self
        copy.folder = folder
        if try copy.read() == nil, let last = try read() { try copy.write(last) }
    }

    /// Replaces the mark in one step. A power loss may restore an older one; the hook then receives some files again.
    ///
    /// - Throws: `SystemError`: the volume is full or not writable. The old mark is intact.
    package func write(_ last: FileName) throws(SystemError) {
        // All marks begin with `hook-`, so no other mark has this name.
        try folder.replace(Array(name.utf8), by: Array(".\(name)".utf8), mode: 0o600) { (file) throws(SystemError) in
            try file.write(last.bytes + [UInt8(ascii: "\n")])
            // Sync the bytes before the rename, or a power loss could leave a name without content.
            try file.syncDraft(.state)
        }
    }
}
