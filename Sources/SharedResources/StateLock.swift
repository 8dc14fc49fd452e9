package import LinuxIO

/// The exclusive right to write in a state folder. It lasts as long as this object, and at most as long as the process.
///
/// The apps' files there (refs, tokens that are gone, hook marks, raw feedback) are named only after their apps, so
/// they allow only one writer: two would overwrite each other's lines.
package final class StateLock: Sendable {
    private let file: OpenFile

    /// Takes the lock; `nil` if another daemon holds it. Blocks.
    ///
    /// - Parameters:
    ///   - state: The folder.
    ///   - name: The name of the lock's file in it.
    /// - Throws: `SystemError`: the folder cannot be written to, or its filesystem does not support locks.
    package init?(on state: Directory, named name: String = "lock") throws(SystemError) {
        let file = try state.openForWriting(Array(name.utf8), mode: 0o600)
        guard try file.lock() else { return nil }
        self.file = file
    }
}
