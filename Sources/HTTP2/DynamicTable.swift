/// The fields that the peer keeps from this side's header blocks (RFC 7541 §2.3.2), newest first.
struct DynamicTable: Sendable {
    private struct Entry: Sendable {
        let name: [UInt8]
        /// `nil` if the value is filled in after the block was encoded.
        let value: [UInt8]?
        let byteCount: Int
    }

    /// Oldest first, because appending to an array is cheaper than inserting at its start.
    private var entries: [Entry] = []
    private(set) var byteCount = 0
    private(set) var byteLimit: Int

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    var count: Int { entries.count }

    /// The size of an entry (RFC 7541 §4.1).
    static func byteCount(_ name: [UInt8], valueByteCount: Int) -> Int { name.count + valueByteCount + 32 }

    /// Returns the index of a field, from 62, and whether its value matches too.
    func find(_ name: [UInt8], _ value: [UInt8]?) -> (index: Int, isWhole: Bool)? {
        var named: Int?
        for place in entries.indices.reversed() where entries[place].name == name {
            let index = StaticTable.count + entries.count - place
            if let value, entries[place].value == value { return (index, true) }
            if named == nil { named = index }
        }
        return named.map { ($0, false) }
    }

    /// Adds a field and evicts the oldest ones to make room. A field larger than the table leaves it empty.
    mutating func insert(_ name: [UInt8], _ value: [UInt8]?, valueByteCount: Int) {
        let entry = Entry(name: name, value: value, byteCount: Self.byteCount(name, valueByteCount: valueByteCount))
        evict(downTo: byteLimit - entry.byteCount)
        guard entry.byteCount <= byteLimit else { return }
        entries.append(entry)
        byteCount += entry.byteCount
    }

    /// Changes the size limit of the table.
    mutating func resize(to limit: Int) {
        byteLimit = limit
        evict(downTo: limit)
    }

    private mutating func evict(downTo limit: Int) {
        var count = 0
        while byteCount > limit, count < entries.count {
            byteCount -= entries[count].byteCount
            count += 1
        }
        entries.removeFirst(count)
    }
}
