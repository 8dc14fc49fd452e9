import HTTP2
import NGHTTP2
import Testing

struct HeaderDecoderTests {
    private static let identifier = "123e4567-e89b-12d3-a456-4266554400a0"
    /// `:status 200` and an `apns-id` by name and value, without indexing.
    private static let answer: [UInt8] = [0x88, 0x00, 7] + Array("apns-id".utf8) + [36] + Array(identifier.utf8)

    private func pairs(_ block: [UInt8], by decoder: HeaderDecoder) throws -> [String] {
        var fields = HeaderFields()
        try decoder.decode(block.span, into: &fields)
        return (0..<fields.count).map {
            String(decoding: fields.name(at: $0), as: UTF8.self) + "="
                + String(decoding: fields.value(at: $0), as: UTF8.self)
        }
    }

    @Test func `an answer of status and apns-id is read`() throws {
        #expect(
            try pairs(Self.answer, by: HeaderDecoder(listLimit: 8000)) == [":status=200", "apns-id=\(Self.identifier)"])
    }

    @Test func `an empty block is an empty list`() throws {
        #expect(try pairs([], by: HeaderDecoder(listLimit: 8000)).isEmpty)
    }

    @Test func `a field that was indexed is found again in a later block`() throws {
        let decoder = HeaderDecoder(listLimit: 8000)
        _ = try pairs([0x40, 1, 0x61, 1, 0x62], by: decoder)
        #expect(try pairs([0xBE], by: decoder) == ["a=b"])
    }

    @Test func `the Huffman example of RFC 7541 is read`() throws {
        // C.4.1: :method GET, :scheme http, :path /, :authority www.example.com
        let block: [UInt8] = [
            0x82, 0x86, 0x84, 0x41, 0x8C, 0xF1, 0xE3, 0xC2, 0xE5, 0xF2, 0x3A, 0x6B, 0xA0, 0xAB, 0x90, 0xF4, 0xFF,
        ]
        #expect(
            try pairs(block, by: HeaderDecoder(listLimit: 8000))
                == [":method=GET", ":scheme=http", ":path=/", ":authority=www.example.com"])
    }

    @Test(
        arguments: [[0xC0], [0x88, 0x00, 7, 0x61], [0x80], [0x3F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]] as [[UInt8]])
    func `a block that is cut or names no entry is malformed`(block: [UInt8]) {
        #expect(throws: HeaderBlockFault.malformed) { try pairs(block, by: HeaderDecoder(listLimit: 8000)) }
    }

    @Test func `a list beyond the limit is too large and leaves the table as it should be`() throws {
        let decoder = HeaderDecoder(listLimit: 60)
        // 34 bytes each: the second goes beyond, and is entered in the table all the same.
        let block: [UInt8] = [0x40, 1, 0x61, 1, 0x62, 0x40, 1, 0x63, 1, 0x64]
        #expect(throws: HeaderBlockFault.tooLarge) { try pairs(block, by: decoder) }
        #expect(try pairs([0xBE], by: decoder) == ["c=d"])
    }

    @Test func `a table of no bytes wants a size update first and then keeps nothing`() throws {
        #expect(throws: HeaderBlockFault.malformed) {
            try pairs([0x88], by: HeaderDecoder(tableByteCount: 0, listLimit: 80))
        }
        let decoder = HeaderDecoder(tableByteCount: 0, listLimit: 80)
        #expect(try pairs([0x20, 0x40, 1, 0x61, 1, 0x62], by: decoder) == ["a=b"])
        #expect(throws: HeaderBlockFault.malformed) { try pairs([0xBE], by: decoder) }
    }

    @Test func `no run of bytes traps`() {
        var state: UInt64 = 7
        for round in 0..<2000 {
            let decoder = HeaderDecoder(listLimit: 500)
            var fields = HeaderFields()
            for _ in 0..<4 {
                let block = (0..<(round % 40)).map { _ in
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    return UInt8(truncatingIfNeeded: state >> 33)
                }
                do throws(HeaderBlockFault) {
                    try decoder.decode(block.span, into: &fields)
                } catch .malformed {
                    break
                } catch {
                    continue
                }
            }
            #expect(fields.listByteCount <= 4 * 500, "round \(round)")
        }
    }
}
