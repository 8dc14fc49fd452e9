/// Encodes header blocks and tracks the peer's dynamic table.
///
/// Blocks must be sent in the order in which they were encoded. Only repeatable blocks may be skipped.
package struct HeaderEncoder: Sendable {
    /// The largest table this side uses, even if the peer allows more: enough for the few heads in use at a time.
    private static let ownTableByteLimit = 4_096

    private var table = DynamicTable(byteLimit: ownTableByteLimit)
    /// The smallest table size since the last size update sent to the peer (RFC 7541 §4.2).
    private var untoldSize: Int?
    /// Changes when blocks encoded earlier may no longer be sent.
    package private(set) var revision = 0

    /// Creates an encoder for a new connection, with the default table of 4,096 bytes.
    package init() {}

    /// The current size limit of the table.
    package var tableByteLimit: Int { table.byteLimit }

    /// Encodes the head as a header block. Adds indexed fields that the peer does not have yet to its table.
    package mutating func encode(_ head: RequestHead) -> EncodedHead {
        var block = EncodedHead()
        appendTableSizes(to: &block)
        let indexable = indexableCount(in: head)
        for (place, field) in head.fields.enumerated() {
            let kept = place < indexable ? field.kept : .nothing
            let name = [UInt8](field.name.utf8)
            switch field.value {
            case .text(let value): append((name, value), kept, to: &block)
            case .hole(let prefix, let byteCount):
                appendHole((name, prefix), byteCount: max(0, byteCount), kept, to: &block)
            }
        }
        block.revision = revision
        return block
    }

    /// Applies the peer's SETTINGS_HEADER_TABLE_SIZE. If the size changes, the next block begins with the new size.
    package mutating func limitTable(to byteCount: Int) {
        let size = min(max(0, byteCount), Self.ownTableByteLimit)
        guard size != table.byteLimit else { return }
        untoldSize = min(untoldSize ?? size, size)
        table.resize(to: size)
        revision += 1
    }

    /// Returns how many leading fields of `head` fit into the table together.
    ///
    /// If later fields were kept as well, each block would evict fields that the next one needs.
    private func indexableCount(in head: RequestHead) -> Int {
        var byteCount = 0
        for (place, field) in head.fields.enumerated() where field.kept != .nothing {
            let name = [UInt8](field.name.utf8)
            switch field.value {
            case .text(let value):
                if StaticTable.find(name, value)?.isWhole == true { continue }
                byteCount += DynamicTable.byteCount(name, valueByteCount: value.count)
            case .hole(let prefix, let holeByteCount):
                byteCount += DynamicTable.byteCount(name, valueByteCount: prefix.count + max(0, holeByteCount))
            }
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
        _ field: (name: [UInt8], value: [UInt8]), _ kept: RequestHead.Kept, to block: inout EncodedHead
    ) {
        let known = find(field.name, field.value)
        if let known, known.isWhole { return block.bytes.appendReference(known.index) }
        let isAdded = kept == .field || kept == .name && known == nil
        block.bytes.appendName(field.name, index: known?.index, isIndexed: isAdded)
        block.bytes.appendLiteral(field.value)
        if isAdded { add(field.name, field.value, field.value.count, with: &block) }
    }

    private mutating func appendHole(
        _ field: (name: [UInt8], prefix: [UInt8]), byteCount: Int, _ kept: RequestHead.Kept, to block: inout EncodedHead
    ) {
        let known = find(field.name, nil)
        let isAdded = kept != .nothing && known == nil
        let valueByteCount = field.prefix.count + byteCount
        block.bytes.appendName(field.name, index: known?.index, isIndexed: isAdded)
        block.bytes.appendInteger(valueByteCount, prefixBits: 7, pattern: 0)
        block.bytes.append(contentsOf: field.prefix)
        block.holes.append(block.bytes.count)
        block.bytes.append(contentsOf: repeatElement(0, count: byteCount))
        if isAdded { add(field.name, nil, valueByteCount, with: &block) }
    }

    /// Finds a field in either table, or else its name.
    private func find(_ name: [UInt8], _ value: [UInt8]?) -> (index: Int, isWhole: Bool)? {
        let fixed = StaticTable.find(name, value)
        if let fixed, fixed.isWhole { return fixed }
        if let kept = table.find(name, value), kept.isWhole || fixed == nil { return kept }
        return fixed
    }

    private mutating func add(
        _ name: [UInt8], _ value: [UInt8]?, _ valueByteCount: Int, with block: inout EncodedHead
    ) {
        table.insert(name, value, valueByteCount: valueByteCount)
        block.isRepeatable = false
        revision += 1
    }
}
