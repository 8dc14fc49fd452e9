package import LinuxIO
package import SpoolModel

/// Where it is kept across restarts which feedback file an app's hook has had last: `hook-<app>` in the state folder.
///
/// Calls block.
package struct HookMark: Sendable {
    private let folder: Directory
    private let name: String

    /// The mark of an app.
    package init(of app: String, in state: Directory) {
        folder = state
        name = "hook-\(app)"
    }

    /// The file's path, for messages.
    package var path: String { folder.path + "/" + name }

    /// The last file; `nil` if there is no mark yet.
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

    /// Replaces the mark in one step. After a power loss it may be an older one: then the hook gets some files again.
    ///
    /// - Throws: `SystemError`: the volume is full, or may not be written to. The old mark is still there.
    package func write(_ last: FileName) throws(SystemError) {
        // No app's name begins with a point: this is no other's mark.
        let temporary = Array(".\(name)".utf8)
        try folder.unlink(temporary)
        let file = try folder.create(temporary, mode: 0o600)
        try file.write(last.bytes + [UInt8(ascii: "\n")])
        // Bytes before name: the name alone would be a mark without a file.
        try file.syncData(.state)
        try folder.rename(temporary, to: folder, replacing: Array(name.utf8))
    }
}
