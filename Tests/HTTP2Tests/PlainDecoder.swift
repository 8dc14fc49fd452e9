import HTTP2

/// A decoder of header blocks for tests: both tables, all representations, no Huffman coding.
final class PlainDecoder: HeaderBlockDecoder {
    struct Field: Hashable {
        let name: String
        let value: String

        init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }

        var byteCount: Int { name.utf8.count + value.utf8.count + 32 }
    }

    /// The largest table the peer may choose.
    var sizeLimit = 4_096
    var listLimit = Int.max
    private(set) var table: [Field] = []
    private(set) var size = 4_096
    private(set) var blockCount = 0

    var tableByteCount: Int { table.reduce(0) { $0 + $1.byteCount } }

    func decode(_ block: Span<UInt8>, into fields: inout HeaderFields) throws(HeaderBlockFault) {
        let list = try decode(block.indices.map { block[$0] })
        guard list.reduce(0, { $0 + $1.byteCount }) <= listLimit else { throw .tooLarge }
        for field in list {
            let (name, value) = (Array(field.name.utf8), Array(field.value.utf8))
            fields.append(name: name.span, value: value.span)
        }
    }

    func decode(_ block: [UInt8]) throws(HeaderBlockFault) -> [Field] {
        blockCount += 1
        var (rest, list) = (block[...], [Field]())
        while let first = rest.first {
            switch first {
            case 0x80...: list.append(try field(at: try Self.integer(&rest, bits: 7)))
            case 0x40...: list.append(insert(try literal(&rest, bits: 6)))
            case 0x20...:
                guard list.isEmpty else { throw .malformed }
                try resize(to: try Self.integer(&rest, bits: 5))
            default: list.append(try literal(&rest, bits: 4))
            }
        }
        return list
    }

    private func insert(_ field: Field) -> Field {
        table.insert(field, at: 0)
        evict()
        return field
    }

    private func resize(to limit: Int) throws(HeaderBlockFault) {
        guard limit <= sizeLimit else { throw .malformed }
        size = limit
        evict()
    }

    private func evict() {
        while tableByteCount > size { table.removeLast() }
    }

    private func field(at index: Int) throws(HeaderBlockFault) -> Field {
        if let known = Self.known[index] { return known }
        guard index >= 62, index - 62 < table.count else { throw .malformed }
        return table[index - 62]
    }

    private func literal(_ rest: inout ArraySlice<UInt8>, bits: Int) throws(HeaderBlockFault) -> Field {
        let index = try Self.integer(&rest, bits: bits)
        let name = index == 0 ? try Self.string(&rest) : try field(at: index).name
        return Field(name, try Self.string(&rest))
    }

    private static func string(_ rest: inout ArraySlice<UInt8>) throws(HeaderBlockFault) -> String {
        guard let first = rest.first, first < 0x80 else { throw .malformed }
        let count = try integer(&rest, bits: 7)
        guard count <= rest.count else { throw .malformed }
        defer { rest = rest.dropFirst(count) }
        return String(decoding: rest.prefix(count), as: UTF8.self)
    }

    static func integer(_ rest: inout ArraySlice<UInt8>, bits: Int) throws(HeaderBlockFault) -> Int {
        guard let first = rest.popFirst() else { throw .malformed }
        let limit = 1 << bits - 1
        var (value, shift) = (Int(first) & limit, 0)
        guard value == limit else { return value }
        while let byte = rest.popFirst(), shift < 28 {
            value += Int(byte & 0x7f) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        throw .malformed
    }

    /// The part of the static table that requests and responses here use (RFC 7541, appendix A).
    private static let known: [Int: Field] = [
        1: Field(":authority", ""), 2: Field(":method", "GET"), 3: Field(":method", "POST"), 4: Field(":path", "/"),
        7: Field(":scheme", "https"),
        8: Field(":status", "200"), 9: Field(":status", "204"), 12: Field(":status", "400"),
        13: Field(":status", "404"),
        14: Field(":status", "500"), 23: Field("authorization", ""), 28: Field("content-length", ""),
        31: Field("content-type", ""), 54: Field("server", ""), 61: Field("www-authenticate", ""),
    ]
}
