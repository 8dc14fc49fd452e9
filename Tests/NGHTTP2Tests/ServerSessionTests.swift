import HTTP2
import NGHTTP2
import Testing

private typealias Frame = HandmadeClient.Frame

struct ServerSessionTests {
    @Test(arguments: [1, 2, 7, 1000])
    func `a request comes whole, however its bytes are cut`(pieces: Int) throws {
        var client = HandmadeClient()
        let block = HandmadeClient.block + [0x00, 1, 0x78, 1, 0x31, 0x00, 1, 0x78, 1, 0x32]
        let body = Array("{\"aps\":{}}".utf8)
        client.exchange(Frame.headers(1, block).bytes + Frame.data(1, body).bytes, pieces: pieces)
        let request = try #require(client.requests.first)
        #expect(request.stream == 1 && request.body == body && request.bodyByteCount == 10)
        #expect(
            request.texts == [":method=POST", ":scheme=https", ":path=/3/device/ab", ":authority=a", "x=1", "x=2"])
        #expect(client.violations.isEmpty)
    }

    @Test func `a body beyond the limit is counted but not kept`() throws {
        var options = ServerSession.Options()
        options.bodyLimit = 5
        var client = HandmadeClient(options)
        client.exchange(
            .headers(1, HandmadeClient.block), .data(1, [1, 2, 3], endsStream: false), .data(1, [4, 5, 6, 7]))
        let request = try #require(client.requests.first)
        #expect(request.body == [1, 2, 3, 4, 5] && request.bodyByteCount == 7)
    }

    @Test func `an answer without a body ends the stream with its fields`() throws {
        var client = HandmadeClient()
        client.exchange(.headers(1, HandmadeClient.block), .data(1, [1]))
        var fields = ResponseFields()
        fields.append(":status", "200")
        fields.append("apns-id", "x", isIndexed: false)
        client.session.respond(on: 1, &fields)
        client.collect()
        let answer = try #require(client.frames.last)
        #expect(answer.type == 1 && answer.flags == 5 && answer.stream == 1 && answer.payload.first == 0x88)
        #expect(client.session.openStreamCount == 0)
    }

    @Test func `an answer's body follows its fields`() throws {
        var client = HandmadeClient()
        client.exchange(.headers(1, HandmadeClient.block, endsStream: true))
        var fields = ResponseFields()
        fields.append(":status", "410")
        let body = Array("{\"reason\":\"Unregistered\"}".utf8)
        client.session.respond(on: 1, &fields, body: body)
        client.collect()
        #expect(client.frames.map(\.type) == [1, 0])
        #expect(client.frames.last == .data(1, body))
    }

    @Test func `a stream that is given up, a PING and a GOAWAY are told`() {
        var client = HandmadeClient()
        client.exchange(.headers(1, HandmadeClient.block))
        client.exchange(Frame(type: 3, stream: 1, payload: [0, 0, 0, 8]))
        client.exchange(Frame(type: 6, payload: [1, 2, 3, 4, 5, 6, 7, 8]))
        client.exchange(Frame(type: 7, payload: [0, 0, 0, 0, 0, 0, 0, 2] + Array("why".utf8)))
        #expect(client.events.map(\.text) == ["reset 1 8", "closed 1 8", "ping 102030405060708", "goaway 0 2 why"])
        #expect(client.frames == [Frame(type: 6, flags: 1, payload: [1, 2, 3, 4, 5, 6, 7, 8])])
    }

    @Test func `a PING is not answered if that is not wanted`() {
        var options = ServerSession.Options()
        options.answersPings = false
        var client = HandmadeClient(options)
        client.exchange(Frame(type: 6, payload: [UInt8](repeating: 1, count: 8)))
        #expect(client.frames.isEmpty)
        client.session.pong(0x0101_0101_0101_0101)
        client.collect()
        #expect(client.frames == [Frame(type: 6, flags: 1, payload: [UInt8](repeating: 1, count: 8))])
    }

    @Test func `a GOAWAY carries what it was given and lets go of the streams above it`() {
        var client = HandmadeClient()
        for stream in [1, 3, 5] as [UInt32] { client.exchange(.headers(stream, HandmadeClient.block)) }
        client.session.noticeShutdown()
        client.session.goAway(lastStream: 3, .noError, debug: Array("{}".utf8))
        client.session.goAway(lastStream: 1, .noError)
        client.collect()
        #expect(
            client.frames.map(\.payload) == [
                [0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], [0, 0, 0, 3, 0, 0, 0, 0, 0x7B, 0x7D], [0, 0, 0, 1, 0, 0, 0, 0],
            ])
        #expect(client.events.map(\.text) == ["closed 5 7", "closed 3 7"])
        #expect(client.session.lastStream == 5)
    }

    @Test func `settings, PING and bytes as they are go out in order`() {
        var client = HandmadeClient()
        client.session.submit([.streams(1), .headerTable(0)])
        client.session.ping(7)
        client.session.inject([0, 0, 1, 0xEE, 0, 0, 0, 0, 0, 9])
        client.collect()
        #expect(client.frames.count == 3)
        #expect(Set(client.frames.map(\.type)) == [4, 6, 0xEE])
        client.exchange(.acknowledgement, Frame(type: 6, flags: 1, payload: [0, 0, 0, 0, 0, 0, 0, 7]))
        #expect(client.events.map(\.text) == ["settings ack", "pong 7"])
    }

    @Test func `an informational answer goes ahead of the final one`() {
        var client = HandmadeClient()
        client.exchange(.headers(1, HandmadeClient.block, endsStream: true))
        var fields = ResponseFields()
        fields.append(":status", "103")
        client.session.inform(on: 1, &fields)
        fields.removeAll()
        fields.append(":status", "200")
        client.session.respond(on: 1, &fields)
        client.collect()
        #expect(client.frames.map(\.flags) == [4, 5])
    }
}

struct WindowTests {
    private static let body = [UInt8](repeating: 0x20, count: 16_384)

    private func afterBodies(_ options: ServerSession.Options) -> HandmadeClient {
        var client = HandmadeClient(options)
        for stream in [1, 3, 5] as [UInt32] {
            client.exchange(.headers(stream, HandmadeClient.block), .data(stream, Self.body))
        }
        return client
    }

    @Test func `the connection's window is opened again as it is used`() {
        let client = afterBodies(.init())
        #expect(client.frames.contains { $0.type == 8 && $0.stream == 0 })
    }

    @Test func `a window stays as it is if that is wanted, until something is granted`() {
        var options = ServerSession.Options()
        options.windows = .manual
        var client = afterBodies(options)
        #expect(client.frames.isEmpty && client.requests.count == 3)
        client.session.grant(49_152, onStream: 0)
        client.collect()
        #expect(client.frames == [Frame(type: 8, payload: [0, 0, 0xC0, 0])])
    }

    @Test func `more than the window allows is a violation`() {
        var options = ServerSession.Options()
        options.windows = .manual
        var client = afterBodies(options)
        for stream in [7, 9] as [UInt32] {
            client.exchange(.headers(stream, HandmadeClient.block), .data(stream, Self.body))
        }
        #expect(client.violations.count == 1 && client.session.isFinished)
        #expect(client.frames.last?.type == 7)
    }

    @Test func `settings that nobody knows are passed on, too`() {
        var client = HandmadeClient()
        client.exchange(Frame(type: 4, payload: [0, 3, 0, 0, 0, 7, 0xF0, 0xD5, 0xDE, 0xAD, 0xBE, 0xEF]))
        let settings = client.events.compactMap { if case .settings(let settings) = $0 { settings } else { nil } }
        #expect(settings == [[.streams(7), .init(identifier: 0xF0D5, value: 0xDEAD_BEEF)]])
    }

    @Test func `the connection's window can be widened at once`() {
        var client = HandmadeClient()
        client.session.setConnectionWindow(1_000_000)
        client.collect()
        #expect(client.frames == [Frame(type: 8, payload: Frame.number(1_000_000 - 65_535, 4))])
    }
}

extension ServerSession.Event {
    /// The event in a few words.
    var text: String {
        switch self {
        case .request(let request): "request \(request.stream)"
        case .reset(let stream, let code): "reset \(stream) \(code.rawValue)"
        case .goAway(let last, let code, let debug):
            "goaway \(last) \(code.rawValue) \(String(decoding: debug, as: UTF8.self))"
        case .settings: "settings"
        case .settingsAcknowledged: "settings ack"
        case .ping(let payload): "ping \(String(payload, radix: 16))"
        case .pong(let payload): "pong \(String(payload, radix: 16))"
        case .closed(let stream, let code): "closed \(stream) \(code.rawValue)"
        case .refusedBeyondLimit(let stream): "refused \(stream)"
        case .violation(let violation): "violation \(violation.stream)"
        }
    }
}
