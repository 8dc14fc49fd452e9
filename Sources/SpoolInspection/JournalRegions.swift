package import JournalModel
package import LinuxIO

/// Reads a journal region by region, even while a daemon writes to it.
package struct JournalRegions {
    /// The layout of the journal, and the node that owns it.
    package let label: JournalLabel
    /// The replay, which determines the order in which to read the regions.
    package let replay: JournalReplay

    /// Reads the first page of the file, and the heads of its regions.
    ///
    /// - Returns: `nil` if the file is not a journal of this version, or its first page is damaged.
    /// - Throws: `SystemError`: the file cannot be read.
    package init?(_ file: borrowing OpenFile) throws(SystemError) {
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
    /// - Throws: `SystemError`: the region cannot be read.
    package func region(_ index: Int, of file: borrowing OpenFile) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        let offset = label.layout.offset(ofRegion: index)
        _ = try file.read(label.layout.regionByteCount, at: offset, appendingTo: &bytes)
        return bytes
    }
}
