import LinuxIO
import SpoolModel

/// A journal that is read region by region, while a daemon may write it.
struct JournalReading {
    /// How it is divided, and whose it is.
    let label: JournalLabel
    /// Knows in which order its regions are to be read.
    let replay: JournalReplay

    /// Reads what stands at the beginnings of the file and of its regions.
    ///
    /// - Returns: `nil` when it is no journal of this version, or its first page is damaged.
    /// - Throws: `SystemError`: it cannot be read.
    init?(_ file: borrowing OpenFile) throws(SystemError) {
        var page: [UInt8] = []
        _ = try file.read(JournalLayout.labelByteCount, at: 0, appendingTo: &page)
        guard let label = JournalLabel(bytes: page) else { return nil }
        var replay = JournalReplay(layout: label.layout)
        for index in 0..<label.layout.regionCount {
            var head: [UInt8] = []
            let offset = label.layout.offset(ofRegion: index)
            _ = try file.read(JournalReplay.headByteCount, at: offset, appendingTo: &head)
            replay.addHead(head, index: index)
        }
        (self.label, self.replay) = (label, replay)
    }

    /// Reads a region.
    ///
    /// - Throws: `SystemError`: it cannot be read.
    func region(_ index: Int, of file: borrowing OpenFile) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        let offset = label.layout.offset(ofRegion: index)
        _ = try file.read(label.layout.regionByteCount, at: offset, appendingTo: &bytes)
        return bytes
    }
}
