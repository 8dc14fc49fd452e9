package import LinuxIO
package import SpoolModel

extension Journal {
    /// How large a journal is made when nothing else is said: 64 MiB.
    package static let usualByteCount = 64 << 20

    /// Opens the node's journal, takes its lock, reads what the last daemon left, and goes on behind it.
    ///
    /// Makes it if there is none, with all its space, so that no record is ever refused for lack of it. One that is there
    /// keeps its size.
    ///
    /// - Parameters:
    ///   - directory: `.pushspool/<node>/`.
    ///   - node: the node's name, which must be the one in the journal.
    ///   - layout: the size of a new one, and how it is divided; at least 8 MiB make a usable one.
    /// - Returns: the journal, and what was read.
    /// - Throws: `SpoolFault` when another daemon has it, it is no journal of this version and node, or there is no space
    ///   for it; `SystemError` when it cannot be read or written. All are the operator's to correct.
    package static func open(
        in directory: Directory, node: String, layout: JournalLayout
    ) throws -> (journal: Journal, replay: JournalReplay) {
        let file = try directory.openForWriting(fileName, mode: 0o600)
        guard try file.lock() else {
            throw SpoolFault(
                "another daemon works on \(directory.path) as node '\(node)'",
                hint: "stop it, or give this one another name with `node:`",
                cause: SystemError.locked("fcntl F_OFD_SETLK", file.path))
        }
        guard let known = try JournalReading.label(of: file, node: node) else {
            return try make(file, in: directory, JournalLabel(layout: layout, node: node))
        }
        let layout = known.layout
        let length = try file.status().byteCount
        // A file that was copied here may have holes.
        try JournalReading.reserve(layout.byteCount, in: file, directory)
        // What is read must be what a loss of power would leave: others will rely on it.
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
                    "move the file away: then jobs in work/ are sent again whole, and those with on_doubt: report are held"
            )
        }
        let journal = try Journal(file, in: directory, book: book)
        // Nothing is done before it is certain that what follows here is ours.
        do throws(JournalFault) {
            try journal.flush()
        } catch {
            throw journal.fault ?? error
        }
        return journal
    }
}
