import LinuxIO

/// The right to write in a state folder, held as long as this lives, and no longer than the process.
///
/// What apps keep there (refs, tokens that are gone, marks of hooks, raw feedback) is called by their names alone, and has
/// one writer: two would write over each other's lines.
final class StateLock: Sendable {
    private let file: OpenFile

    /// Takes the right; blocks.
    ///
    /// - Returns: `nil` when another daemon has it.
    /// - Throws: `SystemError`: the folder cannot be written to, or its filesystem knows no locks.
    init?(on state: Directory) throws(SystemError) {
        let file = try state.openForWriting(Array("lock".utf8), mode: 0o600)
        guard try file.lock() else { return nil }
        self.file = file
    }
}
