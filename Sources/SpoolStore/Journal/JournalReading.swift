import JournalModel
import LinuxIO

/// Reads a journal's file before it is opened, and allocates its space.
package enum JournalReading {
    /// Returns the label that describes the file's division; `nil` for a new file, or if its creation was interrupted.
    static func label(of file: borrowing OpenFile, node: String) throws -> JournalLabel? {
        var page: [UInt8] = []
        _ = try file.read(JournalLayout.labelByteCount, at: 0, appendingTo: &page)
        var head: [UInt8] = []
        _ = try file.read(JournalReplay.headByteCount, at: Int64(page.count), appendingTo: &head)
        let label = JournalLabel(bytes: page)
        // Regions are begun only once the first page is safe. Before that, a crash may have left any part of the page.
        if label == nil, head.allSatisfy({ $0 == 0 }), JournalLabel.isUnfinished(page) { return nil }
        guard let label else {
            throw SpoolFault(
                "\(file.path) has a damaged first page, or was written by another version of pushspool",
                hint:
                    "start the version that wrote it, or move the file away; the daemon resends jobs in work/ completely, and holds those with on_doubt: report"
            )
        }
        guard label.node == node else {
            throw SpoolFault(
                "\(file.path) belongs to node '\(label.node)', but this daemon is node '\(node)'",
                hint: "move the journal back to .pushspool/\(label.node)/")
        }
        return label
    }

    /// Allocates the file's space. If there is too little, removes the file if it is new.
    static func reserve(_ byteCount: Int, in file: borrowing OpenFile, _ directory: Directory) throws {
        do throws(SystemError) {
            try allocate(byteCount, in: file)
        } catch {
            guard error.isOutOfSpace else { throw error }
            var page: [UInt8] = []
            _ = try file.read(JournalLayout.labelByteCount, at: 0, appendingTo: &page)
            if page.allSatisfy({ $0 == 0 }) { try directory.unlink(Journal.fileName) }
            throw SpoolFault(
                "no space for a journal of \(byteCount >> 20) MiB in \(directory.path)",
                hint: "free that much space, or set `journal.size` to a smaller value (8 MiB or more)", cause: error)
        }
    }

    private static func allocate(_ byteCount: Int, in file: borrowing OpenFile) throws(SystemError) {
        do throws(SystemError) {
            try file.reserve(byteCount: Int64(byteCount))
        } catch {
            guard error.isUnsupported else { throw error }
            // CephFS, for example. Space that was written once is there, as far as the filesystem lets anybody tell.
            try fill(file, to: Int64(byteCount))
        }
    }

    /// Writes zeros from the end of the file up to this length.
    private static func fill(_ file: borrowing OpenFile, to byteCount: Int64) throws(SystemError) {
        var offset = try file.status().byteCount
        while offset < byteCount {
            let count = min(1 << 20, byteCount - offset)
            try file.write([UInt8](repeating: 0, count: Int(count)), at: offset)
            offset += count
        }
    }

    /// Reads the whole file, which had `length` bytes.
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
