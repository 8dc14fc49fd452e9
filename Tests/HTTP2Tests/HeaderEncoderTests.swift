import HTTP2
import TestSupport
import Testing

/// What the encoder writes, against a decoder with a table of its own.
struct HeaderEncoderTests {
    private static func head(_ pairs: [(String, String)], indexed: Bool = true) -> RequestHead {
        RequestHead(fields: pairs.map { .init($0.0, .text($0.1), kept: indexed ? .field : .nothing) })
    }

    @Test(arguments: [
        (":method", "POST", "83"), (":scheme", "https", "87"), ("accept-encoding", "gzip, deflate", "90"),
        (":authority", "a", "41 01 61"), ("authorization", "b", "57 01 62"), ("www-authenticate", "", "bd"),
        ("apns-id", "c", "40 07 61706e732d6964 01 63"), (":path", "/x", "44 02 2f78"),
    ])
    func `an indexed field refers to the static table or joins the dynamic one`(
        name: String, value: String, hex: String
    ) {
        var encoder = HeaderEncoder()
        #expect(encoder.encode(Self.head([(name, value)])).bytes == [UInt8](hex: hex))
    }

    @Test(arguments: [
        (":path", "/x", "04 02 2f78"), ("authorization", "b", "0f08 01 62"),
        ("apns-id", "c", "00 07 61706e732d6964 01 63"),
        (":method", "POST", "83"), (":method", "PUT", "02 03 505554"),
    ])
    func `other fields are literals without indexing`(name: String, value: String, hex: String) {
        var encoder = HeaderEncoder()
        let encoded = encoder.encode(Self.head([(name, value)], indexed: false))
        #expect(encoded.bytes == [UInt8](hex: hex) && encoded.isRepeatable && encoder.revision == 0)
    }

    @Test func `a new value refers to a name that is kept`() throws {
        var encoder = HeaderEncoder()
        let decoder = PlainDecoder()
        _ = try decoder.decode(encoder.encode(Self.head([("apns-topic", "a")])).bytes)
        let before = encoder.revision
        let encoded = encoder.encode(Self.head([("apns-topic", "b")]))
        #expect(encoded.bytes == [0x7e, 1, 98] && !encoded.isRepeatable && encoder.revision != before)
        #expect(try decoder.decode(encoded.bytes) == [.init("apns-topic", "b")])
    }

    @Test func `holes stand where their bytes go, after their prefix`() {
        var encoder = HeaderEncoder()
        let head = RequestHead(fields: [
            .init(":path", .hole(prefix: [47], byteCount: 2)), .init("apns-id", .hole(byteCount: 200)),
        ])
        let encoded = encoder.encode(head)
        #expect(encoded.holes == [3, 16] && encoded.bytes.count == 216 && encoded.isRepeatable)
        #expect(encoded.bytes.prefix(16) == [4, 3, 47, 0, 0, 0, 7, 97, 112, 110, 115, 45, 105, 100, 0x7f, 73][...])
        #expect(head.listByteCount == 32 + 5 + 3 + 32 + 7 + 200)
    }

    @Test func `a name is kept once, whatever its values, and those are not`() throws {
        var encoder = HeaderEncoder()
        let decoder = PlainDecoder()
        let head = RequestHead(fields: [
            .init("apns-id", .hole(byteCount: 2), kept: .name), .init("apns-expiration", .text("7"), kept: .name),
        ])
        let first = encoder.encode(head)
        #expect(first.bytes.first == 0x40 && !first.isRepeatable && first.holes == [10])
        #expect(try decoder.decode(first.bytes) == [.init("apns-id", "\0\0"), .init("apns-expiration", "7")])
        let second = encoder.encode(head)
        #expect(second.bytes == [0x0f, 48, 2, 0, 0, 0xbe] && second.isRepeatable && second.holes == [3])
        let other = encoder.encode(RequestHead(fields: [.init("apns-expiration", .text("8"), kept: .name)]))
        #expect(other.bytes == [0x0f, 47, 1, 56] && other.isRepeatable)
        #expect(try decoder.decode(other.bytes) == [.init("apns-expiration", "8")])
    }

    @Test func `a new table size comes at the beginning of the next block, the smallest first`() throws {
        var encoder = HeaderEncoder()
        let decoder = PlainDecoder()
        let head = Self.head([("apns-topic", "a")])
        _ = try decoder.decode(encoder.encode(head).bytes)
        encoder.limitTable(to: 0)
        encoder.limitTable(to: 1_000_000)
        let encoded = encoder.encode(head)
        #expect(encoded.bytes.prefix(5) == [0x20, 0x3f, 0xe1, 0x1f, 0x40] && !encoded.isRepeatable)
        #expect(try decoder.decode(encoded.bytes) == [.init("apns-topic", "a")] && decoder.table.count == 1)
        #expect(encoder.encode(head).bytes == [0xbe])
    }

    @Test func `an old block is not valid after a new table size`() {
        var encoder = HeaderEncoder()
        let encoded = encoder.encode(Self.head([(":method", "POST")]))
        encoder.limitTable(to: 4_096)
        #expect(encoder.revision == encoded.revision)
        encoder.limitTable(to: 100)
        #expect(encoder.revision != encoded.revision)
    }

    @Test(arguments: [0, 33, 70, 110, 4_096])
    func `a head settles after one block, however small the table`(size: Int) throws {
        var encoder = HeaderEncoder()
        let decoder = PlainDecoder()
        encoder.limitTable(to: size)
        let pairs = [("apns-topic", "a"), ("authorization", "bearer x"), ("apns-push-type", "alert")]
        let expected = pairs.map { PlainDecoder.Field($0.0, $0.1) }
        for round in 0..<4 {
            let encoded = encoder.encode(Self.head(pairs))
            #expect(try decoder.decode(encoded.bytes) == expected)
            #expect(encoded.isRepeatable == (round > 0 || size == 4_096 && round > 0), "round \(round)")
            #expect(decoder.tableByteCount <= size)
        }
    }

    @Test func `any run of heads and table sizes decodes to what went in`() throws {
        for seed in UInt64(0)..<300 {
            var random = SeededGenerator(seed: seed)
            var encoder = HeaderEncoder()
            let decoder = PlainDecoder()
            for _ in 0..<40 {
                for _ in 0..<Int.random(in: 0...1, using: &random) * 2 {
                    encoder.limitTable(to: .random(in: 0...400, using: &random))
                }
                let head = Self.randomHead(&random)
                let old = encoder.revision
                let encoded = encoder.encode(head)
                let texts = head.fields.map { PlainDecoder.Field($0.name, Self.text($0.value)) }
                try #require(try decoder.decode(encoded.bytes) == texts, "seed \(seed)")
                try #require(decoder.size == encoder.tableByteLimit, "seed \(seed)")
                try #require(encoded.isRepeatable == (encoder.revision == old), "seed \(seed)")
            }
        }
    }

    private static func randomHead(_ random: inout SeededGenerator) -> RequestHead {
        let names = [":method", ":authority", "apns-topic", "apns-id", "authorization", "x"]
        return RequestHead(
            fields: (0..<Int.random(in: 1...5, using: &random)).map { _ in
                let value = ["POST", "a", "bb", String(repeating: "c", count: 130)][.random(in: 0...3, using: &random)]
                return .init(
                    names[.random(in: 0..<names.count, using: &random)], .text(value),
                    kept: [.nothing, .name, .field][.random(in: 0..<3, using: &random)])
            })
    }

    private static func text(_ value: RequestHead.Value) -> String {
        switch value {
        case .text(let text): String(decoding: text, as: UTF8.self)
        case .hole(let prefix, let byteCount):
            String(decoding: prefix, as: UTF8.self) + String(repeating: "\0", count: byteCount)
        }
    }
}
