import JournalModel
import LinuxIO

extension Journal {
    /// The default size of a new journal: 64 MiB.
    package static let usualByteCount = 64 << 20

    /// Opens a locked journal, reads the records of the last daemon, and continues after them.
    ///
    /// Creates a missing journal with all its space allocated, so that no record ever fails for lack of space. An
    /// existing journal keeps its size.
    ///
    /// - Parameters:
    ///   - lock: The lock, which is used up.
    ///   - layout: The size and regions of a new journal; a usable one has at least 8 MiB.
    /// - Returns: The journal, and the records read from it.
    /// - Throws: `SpoolFault` if it belongs to another version or node, or there is no space for it; `SystemError` if it
    ///   cannot be read or written. The operator must correct all of these.
    static func open(
        _ lock: JournalLock, layout: JournalLayout
    ) throws -> (journal: Journal, replay: JournalReplay) {
        let (directory, node) = (lock.directory, lock.node)
        let file = lock.take()
        guard let known = try JournalReading.label(of: file, node: node) else {
            return try make(file, in: directory, JournalLabel(layout: layout, node: node))
        }
        let layout = known.layout
        let length = try file.status().byteCount
        // A copied file may have holes.
        try JournalReading.reserve(layout.byteCount, in: file, directory)
        // The replay must show only records that survive a power loss, because other code relies on them.
        try file.syncData(.journal)
        file.forgetCache()
        let replay = try JournalReading.replay(of: file, layout, length: length)
        if known.isOfEarlierVersion { try file.write(JournalLabel(layout: layout, node: node).bytes, at: 0) }
        return (try begin(file, in: directory, layout, after: replay), replay)
    }

    static let fileName = Array("journal".utf8)

    private static func make(
        _ file: consuming OpenFile, in directory: Directory, _ label: JournalLabel
    ) throws -> (journal: Journal, replay: JournalReplay) {
        try file.setNoCopyOnWrite()
        try JournalReading.reserve(label.layout.byteCount, in: file, directory)
        try file.write(label.bytes, at: 0)
        try file.sync(.journalFile)
        try directory.sync(.journalFolder)
        var replay = JournalReplay(layout: label.layout)
        replay.finish()
        return (try begin(file, in: directory, label.layout, after: nil), replay)
    }

    private static func begin(
        _ file: consuming OpenFile, in directory: Directory, _ layout: JournalLayout, after replay: JournalReplay?
    ) throws -> Journal {
        let book: JournalBook
        do throws(JournalFull) {
            book = try JournalBook(layout: layout, after: replay, salt: .random(in: 0 ... .max))
        } catch {
            throw SpoolFault(
                "\(file.path) is full of unfinished jobs",
                hint:
                    "move the file away; the daemon resends jobs in work/ completely, and holds those with on_doubt: report"
            )
        }
        let journal = try Journal(file, in: directory, book: book)
        // Before anything else, make it durable that all following records are this daemon's.
        do throws(JournalFault) {
            try journal.flush()
        } catch {
            throw journal.fault ?? error
        }
        return journal
    }
}
