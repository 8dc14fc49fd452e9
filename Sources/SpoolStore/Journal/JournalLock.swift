package import JournalModel
package import LinuxIO

/// A node's journal that is locked and not read yet. Unlocked again when it is released, unless a journal was opened with it.
///
/// Owned by one thread at a time. Calls block.
package final class JournalLock {
    /// The journal's folder, `.pushspool/<node>/`.
    let directory: Directory
    /// The node's name.
    package let node: String
    private var file: OpenFile?

    /// Locks a journal, which is created if there is none.
    ///
    /// - Returns: `nil` if another open file holds the lock.
    /// - Throws: `SystemError`: it cannot be opened, or its filesystem has no locks.
    init?(of node: String, in directory: Directory) throws(SystemError) {
        let file = try directory.openForWriting(Journal.fileName, mode: 0o600)
        guard try file.lock() else { return nil }
        (self.node, self.directory) = (node, directory)
        self.file = consume file
    }

    deinit {
        file?.unlock()
    }

    /// Whether a daemon has the journal that is in a folder now. None can have what this user cannot open as a file.
    ///
    /// - Throws: `SystemError`: for example EIO.
    static func isHeld(in directory: Directory) throws(SystemError) -> Bool {
        do throws(SystemError) {
            guard try directory.status(of: Journal.fileName)?.kind == .regular else { return false }
            return try directory.openForReading(Journal.fileName).isLockedElsewhere()
        } catch {
            guard error.isNotFound || error.isSymbolicLink || error.isPermission else { throw error }
            return false
        }
    }

    /// The last mark of the node that wrote the journal.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package func beat() throws(SystemError) -> JournalBeat? {
        var bytes: [UInt8] = []
        _ = try file?.read(JournalBeat.byteCount, at: JournalBeat.offset, appendingTo: &bytes)
        return JournalBeat(bytes: bytes)
    }

    /// Returns the locked file. It can be taken once.
    func take() -> OpenFile {
        guard let file = file.take() else { preconditionFailure("a journal's lock is used once") }
        return file
    }
}

extension JournalLock {
    /// Locks a node's journal, and opens it.
    ///
    /// - Parameters:
    ///   - node: The node's name, which must match the one in the journal.
    ///   - directory: `.pushspool/<node>/`.
    ///   - layout: As for `Journal.open`.
    /// - Returns: The journal, and the records read from it.
    /// - Throws: `SpoolFault` if another daemon has it, and what `Journal.open` throws.
    package static func openJournal(
        of node: String, in directory: Directory, layout: JournalLayout
    ) throws -> (journal: Journal, replay: JournalReplay) {
        guard let lock = try JournalLock(of: node, in: directory) else {
            throw SpoolFault.isInUse(by: node, directory, isClustered: false)
        }
        return try Journal.open(lock, layout: layout)
    }
}
