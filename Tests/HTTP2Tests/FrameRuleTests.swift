import HTTP2
import Testing

/// What each frame type must look like, and what it costs when it does not (RFC 9113 §4 … §6).
struct FrameRuleTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let frames: [Frame]
        let code: ErrorCode

        init(_ description: String, _ code: ErrorCode, _ frames: Frame...) {
            testDescription = description
            self.frames = frames
            self.code = code
        }
    }

    static let faults: [Case] = [
        Case("DATA on stream 0", .protocolError, .data(0, [1])),
        Case("DATA on an idle stream", .protocolError, .data(99, [1])),
        Case("DATA on a server's stream", .protocolError, .data(2, [1])),
        Case("DATA after END_STREAM", .streamClosed, .headers(1, ok), .data(1, [1])),
        Case("HEADERS after END_STREAM", .streamClosed, .headers(1, ok), .headers(1, ok)),
        Case("DATA of padding alone", .protocolError, .headers(1, ok, flags: 4), .data(1, [5, 0, 0, 0, 0], flags: 8)),
        Case("padded DATA of no bytes", .frameSizeError, .headers(1, ok, flags: 4), .data(1, [], flags: 8)),
        Case("HEADERS on stream 0", .protocolError, .headers(0, ok)),
        Case("HEADERS on an idle stream", .protocolError, .headers(7, ok)),
        Case("HEADERS with too much padding", .protocolError, .headers(1, [1], flags: 13)),
        Case("HEADERS without its priority", .frameSizeError, .headers(1, [0, 0, 0, 0], flags: 37)),
        Case("HEADERS that cannot be decoded", .compressionError, .headers(1, [0xff, 0xff])),
        Case("CONTINUATION alone", .protocolError, .continuation(1, ok)),
        Case("CONTINUATION of another stream", .protocolError, .headers(1, ok, flags: 0), .continuation(3, [])),
        Case("PING within a header block", .protocolError, .headers(1, ok, flags: 0), .ping(1)),
        Case("unknown frame within a header block", .protocolError, .headers(1, ok, flags: 0), Frame(type: 99)),
        Case("PRIORITY on stream 0", .protocolError, .priority(0)),
        Case("RST_STREAM on stream 0", .protocolError, .reset(0, .cancel)),
        Case("RST_STREAM on an idle stream", .protocolError, .reset(9, .cancel)),
        Case("RST_STREAM of 3 bytes", .frameSizeError, Frame(type: 3, stream: 1, payload: [0, 0, 0])),
        Case("SETTINGS on a stream", .protocolError, Frame(type: 4, stream: 1)),
        Case("SETTINGS of 5 bytes", .frameSizeError, Frame(type: 4, payload: [0, 0, 0, 0, 0])),
        Case("SETTINGS ACK with values", .frameSizeError, Frame(type: 4, flags: 1, payload: [0, 3, 0, 0, 0, 1])),
        Case("ENABLE_PUSH 1", .protocolError, .settings([(2, 1)])),
        Case("ENABLE_PUSH 2", .protocolError, .settings([(2, 2)])),
        Case("INITIAL_WINDOW_SIZE of 2^31", .flowControlError, .settings([(4, 0x8000_0000)])),
        Case("MAX_FRAME_SIZE too low", .protocolError, .settings([(5, 16_383)])),
        Case("MAX_FRAME_SIZE too high", .protocolError, .settings([(5, 0x100_0000)])),
        Case("PUSH_PROMISE", .protocolError, Frame(type: 5, flags: 4, stream: 1, payload: [0, 0, 0, 2])),
        Case("PING on a stream", .protocolError, Frame(type: 6, stream: 1, payload: .init(repeating: 0, count: 8))),
        Case("PING of 7 bytes", .frameSizeError, Frame(type: 6, payload: .init(repeating: 0, count: 7))),
        Case("GOAWAY on a stream", .protocolError, Frame(type: 7, stream: 1, payload: .init(repeating: 0, count: 8))),
        Case("GOAWAY of 7 bytes", .frameSizeError, Frame(type: 7, payload: .init(repeating: 0, count: 7))),
        Case("WINDOW_UPDATE of 3 bytes", .frameSizeError, Frame(type: 8, payload: [0, 0, 1])),
        Case("WINDOW_UPDATE of 0", .protocolError, .windowUpdate(0, 0)),
        Case("WINDOW_UPDATE on an idle stream", .protocolError, .windowUpdate(9, 1)),
        Case("a window beyond 2^31 - 1", .flowControlError, .windowUpdate(0, 0x7fff_ffff)),
        Case("a frame longer than we allow", .frameSizeError, .data(1, .init(repeating: 0, count: 16_385))),
    ]

    @Test(arguments: faults)
    func `a broken rule of the connection ends it with a GOAWAY that says why`(example: Case) throws {
        var rig = Rig()
        rig.open()
        var code: ErrorCode?
        for frame in example.frames where code == nil { code = rig.fault(frame) }
        #expect(code == example.code)
        let goAway = try #require(rig.sent().last)
        #expect(goAway == .goAway(0, example.code))
        #expect(rig.fault(.ping(1)) == example.code && rig.output.isEmpty)
        #expect(rig.machine.isClosing && !rig.machine.isReady && rig.machine.room == 0)
    }

    static let streamErrors: [Case] = [
        Case("WINDOW_UPDATE of 0", .protocolError, .windowUpdate(1, 0)),
        Case("a window beyond 2^31 - 1", .flowControlError, .windowUpdate(1, 0x7fff_ffff)),
        Case("PRIORITY of 4 bytes", .frameSizeError, Frame(type: 2, stream: 1, payload: [0, 0, 0, 0])),
        Case("DATA before HEADERS", .protocolError, .data(1, [1])),
        Case("no status", .protocolError, .headers(1, literal("apns-id", "1"))),
        Case("no field at all", .protocolError, .headers(1, [])),
        Case("a status of two digits", .protocolError, .headers(1, literal(":status", "20"))),
        Case("a status that is no number", .protocolError, .headers(1, literal(":status", "2x0"))),
        Case("two statuses", .protocolError, .headers(1, ok + ok)),
        Case("status 101", .protocolError, .headers(1, literal(":status", "101"), flags: 4)),
        Case("the end of the stream in a 1xx", .protocolError, .headers(1, literal(":status", "103"))),
        Case("a request's field", .protocolError, .headers(1, ok + literal(":path", "/"))),
        Case("a capital letter", .protocolError, .headers(1, ok + literal("Apns-id", "1"))),
        Case("an empty name", .protocolError, .headers(1, ok + literal("", "1"))),
        Case("a line end in a value", .protocolError, .headers(1, ok + literal("a", "1\r\n2"))),
        Case("a space before a value", .protocolError, .headers(1, ok + literal("a", " 1"))),
        Case("a field of the connection", .protocolError, .headers(1, ok + literal("transfer-encoding", "chunked"))),
        Case("a body that was promised", .protocolError, .headers(1, ok + literal("content-length", "3"))),
        Case(
            "two lengths", .protocolError,
            .headers(1, bad + literal("content-length", "3") + literal("content-length", "4"))),
        Case(
            "a body shorter than promised", .protocolError,
            .headers(1, bad + literal("content-length", "3"), flags: 4), .data(1, [1, 2])),
        Case(
            "HEADERS amid a body", .protocolError, .headers(1, bad, flags: 4), .headers(1, literal("a", "1"), flags: 4)),
        Case("a pseudo-header field in trailers", .protocolError, .headers(1, bad, flags: 4), .headers(1, ok)),
    ]

    @Test(arguments: streamErrors)
    func `a broken rule of a stream costs that stream alone`(example: Case) throws {
        var rig = Rig()
        rig.open(2)
        for frame in example.frames { try rig.receive(frame.bytes) }
        #expect(rig.arrivals.events == [.reset(stream: 1, example.code)])
        #expect(rig.sent() == [.reset(1, example.code)])
        #expect(!rig.machine.isOpen(1) && rig.machine.openStreamCount == 1)
        #expect(try rig.events(.headers(3, ok)) == [.response(stream: 3, status: 200, fields: 0..<1, body: 0..<0)])
        #expect(rig.arrivals.fields.count == 1)
    }

    @Test func `unknown frames, settings and flags mean nothing`() throws {
        var rig = Rig()
        rig.open()
        let odd = Frame(type: 0xfa, flags: 0xff, stream: 8, payload: [1, 2, 3])
        #expect(try rig.events(odd, .priority(8), .settings([(0x99, 7)])) == [.limitsChanged])
        #expect(rig.sent() == [.settingsACK])
        #expect(try rig.events(.headers(1, ok, flags: 0x80 | 5)).count == 1)
    }

    @Test(arguments: [Frame.settingsACK, .ping(1), .headers(1, ok), Frame(type: 77)])
    func `the first frame must be SETTINGS`(frame: Frame) {
        var rig = Rig(.init(), settings: nil)
        #expect(rig.fault(frame) == .protocolError)
    }

    @Test func `a frame too long is refused before it is here`() {
        var rig = Rig()
        let header = Array(Frame.data(1, .init(repeating: 0, count: 16_385)).bytes.prefix(9))
        #expect(throws: ConnectionFault.self) { try rig.receive(header) }
    }
}
