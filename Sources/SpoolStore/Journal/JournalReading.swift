import LinuxIO
import SpoolModel

/// Reads the file of a journal before it is opened, and gives it its space.
enum JournalReading {
    /// How the file says that it is divided; `nil` when it is new, or making it was cut off.
    static func label(of file: borrowing OpenFile, node: String) throws -> JournalLabel? {
        var page: [UInt8] = []
        _ = try file.read(JournalLayout.labelByteCount, at: 0, appendingTo: &page)
        var head: [UInt8] = []
        _ = try file.read(JournalReplay.headByteCount, at: Int64(page.count), appendingTo: &head)
        let label = JournalLabel(bytes: page)
        // Regions are begun once the first page is safe; before, a crash may have left any part of it.
        if label == nil, head.allSatisfy({ $0 == 0 }), JournalLabel.isUnfinished(page) { return nil }
        guard let label else {
            throw SpoolFault(
                "\(file.path) is damaged on its first page, or was written by another version of this program",
                hint:
                    "start the version that wrote it; or move the file away: then jobs in work/ are sent again whole, and those with on_doubt: report are held"
            )
        }
        guard label.node == node else {
            throw SpoolFault(
                "\(file.path) belongs to node '\(label.node)', and this is node '\(node)'",
                hint: "give this daemon that name with `node:`, or put the journal back where it was")
        }
        return label
    }

    /// Gives the file its space, or nothing at all if it is a new one.
    static func reserve(_ byteCount: Int, in file: borrowing OpenFile, _ directory: Directory) throws {
        do {
            try file.reserve(byteCount: Int64(byteCount))
        } catch {
            guard error.isOutOfSpace else { throw error }
            var page: [UInt8] = []
            _ = try file.read(JournalLayout.labelByteCount, at: 0, appendingTo: &page)
            if page.allSatisfy({ $0 == 0 }) { try directory.unlink(Journal.fileName) }
            throw SpoolFault(
                "there is no space for the journal of \(byteCount >> 20) MiB in \(directory.path)",
                hint: "free that much, or make it smaller with `journal.size:` (8 MiB at least)", cause: error)
        }
    }

    /// Reads all of the file, which had so many bytes.
    static func replay(
        of file: borrowing OpenFile, _ layout: JournalLayout, length: Int64
    ) throws -> JournalReplay {
        var replay = JournalReplay(layout: layout)
        for index in 0..<layout.regionCount {
            replay.addHead(try bytes(JournalReplay.headByteCount, of: index, in: file, layout), index: index)
        }
        for index in replay.readingOrder {
            replay.addRegion(try bytes(layout.regionByteCount, of: index, in: file, layout), index: index)
        }
        if length < layout.byteCount { replay.noteCut(toByteCount: length) }
        replay.finish()
        return replay
    }

    private static func bytes(
        _ count: Int, of region: Int, in file: borrowing OpenFile, _ layout: JournalLayout
    ) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        _ = try file.read(count, at: layout.offset(ofRegion: region), appendingTo: &bytes)
        return bytes
    }
}
