import HTTP2
import NGHTTP2
import Testing

private typealias Frame = HandmadeClient.Frame

struct ViolationTests {
    /// A block with one more field, without indexing.
    private static func block(with name: String, _ value: String) -> [UInt8] {
        HandmadeClient.block + [0x00, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)]
            + Array(value.utf8)
    }

    @Test(arguments: [
        ("uppercase", block(with: "Apns-Id", "x")),
        ("pseudo-header behind others", block(with: "a", "b") + [0x82]),
        ("pseudo-header twice", HandmadeClient.block + [0x83]),
        ("connection header", block(with: "connection", "close")),
        ("no path", [0x83, 0x87, 0x01, 1, 0x61]),
    ])
    func `a list of fields that is malformed costs the stream alone`(name: String, block: [UInt8]) {
        var client = HandmadeClient()
        client.exchange(.headers(1, block), .data(1, [1]), .headers(3, HandmadeClient.block), .data(3, [1]))
        #expect(client.violations.map(\.stream) == [1], "\(name)")
        #expect(client.frames.first?.type == 3 && client.requests.map(\.stream) == [3], "\(name)")
    }

    @Test func `a field whose value is malformed is left out and told`() {
        var client = HandmadeClient()
        client.exchange(.headers(1, Self.block(with: "authorization", "bearer ")), .data(1, [1]))
        #expect(client.violations.map(\.stream) == [1])
        #expect(client.requests.map(\.fields.count) == [4])
    }

    @Test func `a stream beyond the limit that was acknowledged ends the connection`() {
        var client = HandmadeClient(settings: [.streams(1)])
        client.exchange(.headers(1, HandmadeClient.block), .headers(3, HandmadeClient.block))
        #expect(client.violations.count == 1 && client.session.isFinished)
    }

    @Test func `a stream beyond a limit that was not acknowledged yet is refused and no fault`() {
        var client = HandmadeClient()
        client.session.submit([.streams(1)])
        client.exchange(.headers(1, HandmadeClient.block), .headers(3, HandmadeClient.block))
        #expect(client.violations.isEmpty && !client.session.isFinished)
        #expect(client.events.map(\.text) == ["refused 3"])
        #expect(client.frames.last == Frame(type: 3, stream: 3, payload: [0, 0, 0, 7]))
    }

    @Test(arguments: [
        ("no preface", false, Array("GET / HTTP/1.1\r\n\r\n".utf8)),
        ("a block that cannot be read", true, Frame.headers(1, [0xC0]).bytes),
        ("an even stream", true, Frame.headers(2, HandmadeClient.block).bytes),
        ("a frame of the wrong size", true, Frame(type: 6, payload: [1]).bytes),
        ("DATA before any HEADERS", true, Frame.data(1, [1]).bytes),
        ("a window beyond 2^31 - 1", true, Frame(type: 8, payload: [0x7F, 0xFF, 0xFF, 0xFF]).bytes),
        ("an acknowledgement of nothing", true, Frame.acknowledgement.bytes),
        ("CONTINUATION of nothing", true, Frame(type: 9, stream: 1, payload: [0x83]).bytes),
    ])
    func `a breach of framing ends the connection and is told once`(name: String, isOpen: Bool, bytes: [UInt8]) {
        var events: [ServerSession.Event] = []
        let session = ServerSession()
        session.submit([])
        session.receive((isOpen ? HandmadeClient.preface + Frame.settings.bytes : []).span)
        var output: [UInt8] = []
        session.takeOutput(into: &output)
        if isOpen { session.receive(Frame.acknowledgement.bytes.span) }
        session.takeEvents(into: &events)
        session.receive(bytes.span)
        session.takeOutput(into: &output)
        session.takeEvents(into: &events)
        #expect(events.count { $0.text.hasPrefix("violation") } == 1, "\(name): \(events.map(\.text))")
        #expect(session.isFinished, "\(name)")
    }

    @Test func `no run of bytes traps`() {
        var state: UInt64 = 3
        for round in 0..<500 {
            var client = HandmadeClient()
            for _ in 0..<8 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let payload = (0..<Int(state >> 59)).map { UInt8(truncatingIfNeeded: (state >> 20) &* UInt64($0 + 7)) }
                client.exchange(
                    Frame(
                        type: UInt8(state >> 40 & 0xF), flags: UInt8(state >> 48 & 0x3F),
                        stream: UInt32(state >> 33 & 7),
                        payload: payload))
            }
            #expect(client.session.isFinished || client.violations.count < 8, "round \(round)")
        }
    }
}
