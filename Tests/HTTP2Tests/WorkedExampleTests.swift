import HTTP2
import Testing

/// The bytes of `protocol/http2.md`.
struct WorkedExampleTests {
    private static let head = RequestHead(fields: [
        .init(":method", .text("POST")), .init(":scheme", .text("https")),
        .init(":authority", .text("api.push.apple.com"), kept: .field),
        .init(":path", .hole(prefix: Array("/3/device/".utf8), byteCount: 64)),
        .init("apns-topic", .text("com.example.MyApp"), kept: .field),
        .init("apns-push-type", .text("alert"), kept: .field),
    ])
    private static let block = [UInt8](
        hex: """
            83 87 41 12 6170692e707573682e6170706c652e636f6d 04 4a 2f332f6465766963652f
            30303031303230333034303530363037303830393061306230633064306530663130313131323133313431353136313731383139316131623163316431653166
            40 0a 61706e732d746f706963 11 636f6d2e6578616d706c652e4d79417070
            40 0e 61706e732d707573682d74797065 05 616c657274
            """)

    private static func filled(_ head: EncodedHead) -> [UInt8] {
        let digits = (0..<32).flatMap { Array(($0 < 16 ? "0" : "") + String($0, radix: 16)).map { $0.asciiValue ?? 0 } }
        var bytes = head.bytes
        for (place, digit) in digits.enumerated() { bytes[head.holes[0] + place] = digit }
        return bytes
    }

    @Test func `the first block is that of the protocol notes`() {
        var encoder = HeaderEncoder()
        let encoded = encoder.encode(Self.head)
        #expect(Self.filled(encoded) == Self.block && Self.block.count == 150)
        #expect(encoded.holes == [34] && !encoded.isRepeatable)
    }

    @Test func `afterwards the peer's table holds the three indexed fields`() throws {
        var encoder = HeaderEncoder()
        let decoder = PlainDecoder()
        _ = try decoder.decode(encoder.encode(Self.head).bytes)
        #expect(decoder.table.map(\.name) == ["apns-push-type", "apns-topic", ":authority"])
        #expect(decoder.table.map(\.byteCount) == [51, 59, 60])
    }

    @Test func `the second block refers to the first`() {
        var encoder = HeaderEncoder()
        _ = encoder.encode(Self.head)
        let encoded = encoder.encode(Self.head)
        #expect(encoded.isRepeatable && encoded.revision == encoder.revision)
        #expect(encoded.bytes.prefix(5) == [0x83, 0x87, 0xc0, 0x04, 0x4a] && encoded.bytes.suffix(2) == [0xbf, 0xbe])
    }

    @Test func `the gateway's SETTINGS allow a thousand streams`() throws {
        var rig = Rig(.init(), settings: nil)
        let bytes = [UInt8](hex: "00001e0400000000000001000010000003000003e800040000ffff000500004000000600001f40")
        try rig.receive(bytes)
        #expect(rig.arrivals.events == [.ready] && rig.output == [UInt8](hex: "000000040100000000"))
        #expect(rig.machine.room == 1_000 && rig.machine.maxHeaderListByteCount == 8_000)
    }

    @Test func `the gateway's SETTINGS may allow one stream`() throws {
        var rig = Rig(.init(), settings: nil)
        try rig.receive([UInt8](hex: "000006040000000000000300000001"))
        #expect(rig.machine.room == 1)
    }

    @Test func `REFUSED_STREAM names its stream`() throws {
        var rig = Rig()
        rig.open(4)
        try rig.receive([UInt8](hex: "00000403000000000700000007"))
        #expect(rig.arrivals.events == [.reset(stream: 7, .refusedStream)])
    }

    @Test func `GOAWAY brings the last stream and a reason`() throws {
        var rig = Rig()
        rig.open(4)
        try rig.receive(
            [UInt8](
                hex: "00001d070000000000 00000005 00000000 7b22726561736f6e223a2253687574646f776e227d"))
        #expect(rig.arrivals.events == [.goAway(lastStream: 5, .noError, debug: 0..<21)])
        #expect(rig.text(0..<21) == #"{"reason":"Shutdown"}"#)
    }

    @Test func `PING and its answer are eight zeros`() throws {
        var rig = Rig()
        rig.machine.ping(0, into: &rig.output)
        #expect(rig.output == [UInt8](hex: "0000080600000000000000000000000000"))
        rig.output = []
        try rig.receive([UInt8](hex: "0000080600000000000000000000000000"))
        #expect(rig.output == [UInt8](hex: "0000080601000000000000000000000000"))
        try rig.receive([UInt8](hex: "0000080601000000000000000000000000"))
        #expect(rig.arrivals.events == [.pong(0)])
    }

    @Test func `a connection begins with preface, SETTINGS and a wide window`() {
        let rig = Rig(.init(), settings: nil)
        var (machine, output) = (rig.machine, [UInt8]())
        machine.start(into: &output)
        #expect(output.starts(with: Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)))
        let frames = Frame.split(Array(output.dropFirst(24))).frames
        #expect(frames == [.settings([(2, 0), (6, 16_384)]), .windowUpdate(0, 4 * 1024 * 1024 - 65_535)])
    }

    @Test func `the mark of the client's spool is the last of its settings`() {
        var options = ConnectionMachine.Options()
        options.spoolMark = 0xDEAD_BEEF
        var (machine, output) = (ConnectionMachine(options: options), [UInt8]())
        machine.start(into: &output)
        let frames = Frame.split(Array(output.dropFirst(24))).frames
        #expect(frames.first == .settings([(2, 0), (6, 16_384), (0xF0D5, 0xDEAD_BEEF)]))
    }
}
