/// Writes header blocks, and knows what the peer keeps of them.
///
/// Blocks must be sent in the order in which they were encoded, and none may be left out unless it is repeatable.
package struct HeaderEncoder: Sendable {
    /// The largest table we use, whatever the peer allows: enough for the few heads in use at a time.
    private static let ownTableByteLimit = 4_096

    private var table = DynamicTable(byteLimit: ownTableByteLimit)
    /// The smallest size the table had since the peer was last told one (RFC 7541 §4.2).
    private var untoldSize: Int?
    /// Changes when blocks made before may no longer be sent.
    package private(set) var revision = 0

    /// Creates an encoder for a new connection, with the table of 4,096 bytes that RFC 7540 begins with.
    package init() {}

    /// The size of the table in use.
    package var tableByteLimit: Int { table.byteLimit }

    /// Writes the head as a header block. Indexed fields that the peer does not know yet are added to its table.
    package mutating func encode(_ head: RequestHead) -> EncodedHead {
        var block = EncodedHead()
        appendTableSizes(to: &block)
        let indexable = indexableCount(in: head)
        for (place, field) in head.fields.enumerated() {
            let name = [UInt8](field.name.utf8)
            switch field.value {
            case .text(let value):
                append((name, value), isIndexed: field.isIndexed && place < indexable, to: &block)
            case .hole(let prefix, let byteCount):
                appendHole((name, prefix), byteCount: max(0, byteCount), to: &block)
            }
        }
        block.revision = revision
        return block
    }

    /// Follows the peer's SETTINGS_HEADER_TABLE_SIZE. The next block begins with the new size, if it is one.
    package mutating func limitTable(to byteCount: Int) {
        let size = min(max(0, byteCount), Self.ownTableByteLimit)
        guard size != table.byteLimit else { return }
        untoldSize = min(untoldSize ?? size, size)
        table.resize(to: size)
        revision += 1
    }

    /// How many of the first fields of `head` the table can keep together. If later ones were kept as well, each block
    /// would push out what the next one needs.
    private func indexableCount(in head: RequestHead) -> Int {
        var byteCount = 0
        for (place, field) in head.fields.enumerated() where field.isIndexed {
            guard case .text(let value) = field.value else { continue }
            let name = [UInt8](field.name.utf8)
            if StaticTable.find(name, value)?.isWhole == true { continue }
            byteCount += DynamicTable.byteCount(name, value)
            if byteCount > table.byteLimit { return place }
        }
        return head.fields.count
    }

    private mutating func appendTableSizes(to block: inout EncodedHead) {
        guard let smallest = untoldSize else { return }
        if smallest < table.byteLimit { block.bytes.appendTableSize(smallest) }
        block.bytes.appendTableSize(table.byteLimit)
        untoldSize = nil
        block.isRepeatable = false
        revision += 1
    }

    private mutating func append(
        _ field: (name: [UInt8], value: [UInt8]), isIndexed: Bool, to block: inout EncodedHead
    ) {
        let fixed = StaticTable.find(field.name, field.value)
        if let fixed, fixed.isWhole {
            block.bytes.appendReference(fixed.index)
            return
        }
        let kept = table.find(field.name, field.value)
        if isIndexed, let kept, kept.isWhole {
            block.bytes.appendReference(kept.index)
            return
        }
        block.bytes.appendName(field.name, index: fixed?.index ?? kept?.index, isIndexed: isIndexed)
        block.bytes.appendLiteral(field.value)
        guard isIndexed else { return }
        table.insert(field.name, field.value)
        block.isRepeatable = false
        revision += 1
    }

    private func appendHole(
        _ field: (name: [UInt8], prefix: [UInt8]), byteCount: Int, to block: inout EncodedHead
    ) {
        let index = StaticTable.find(field.name, nil)?.index ?? table.find(field.name, nil)?.index
        block.bytes.appendName(field.name, index: index, isIndexed: false)
        block.bytes.appendInteger(field.prefix.count + byteCount, prefixBits: 7, pattern: 0)
        block.bytes.append(contentsOf: field.prefix)
        block.holes.append(block.bytes.count)
        block.bytes.append(contentsOf: repeatElement(0, count: byteCount))
    }
}
