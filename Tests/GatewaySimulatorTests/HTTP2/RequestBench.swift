import HTTP2
import NGHTTP2
import PushModel

@testable import GatewaySimulator

/// One HTTP/2 connection of a gateway without a socket, at whatever time the test likes; its client's bytes are made by
/// hand.
struct RequestBench {
    private(set) var state: GatewayState
    private var policy: HTTP2Policy
    private let decoder = HeaderDecoder(listLimit: 65_536)
    private(set) var now = Moment.zero
    private var nextStream: UInt32 = 1
    /// The seconds since 1970 that the wall clock shows at the start.
    static let epochSeconds: Int64 = 1_700_000_000
    /// What the gateway sent, in order.
    private(set) var received: [Received] = []
    /// How the gateway ended the connection.
    private(set) var ending: GatewayPolicy.Step?

    /// What the gateway can send.
    enum Received: Hashable {
        case answer(stream: UInt32, fields: [String], body: String)
        case reset(stream: UInt32, UInt32)
        case goAway(UInt32, UInt32, String)
        case settings([UInt16: UInt32])
        case window(UInt32, UInt32)
        case ping, pong
        case other(UInt8)
    }

    init(
        _ script: String = "", rules: RequestRules = RequestRules(), manner: HTTP2Manner = HTTP2Manner(),
        topics: [String]? = ["com.example.weather"]
    ) throws {
        var state = GatewayState(
            rules: GatewayRules(), ledger: Ledger(), feedback: FeedbackList(), requestTerms: try RequestTerms(rules),
            manners: [.http2: manner])
        state.start(try FaultScript(script))
        self.init(state, serving: ProviderAPI(certificateTopics: topics))
    }

    /// Opens a connection to a gateway that may have a past.
    init(_ state: GatewayState, serving api: any ServedAPI) {
        self.state = state
        policy = HTTP2Policy(
            connection: self.state.ledger.noteConnection(), serving: api, at: Self.time(.zero), sharing: &self.state)
        send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0])
        acknowledge()
    }

    static func time(_ moment: Moment) -> GatewayPolicy.Now {
        let wall = WallTime(epochSeconds: epochSeconds) + .nanoseconds(moment.nanoseconds)
        return GatewayPolicy.Now(moment: moment, wallTime: wall)
    }

    var ledger: Ledger { state.ledger }

    /// Acknowledges settings.
    mutating func acknowledge() {
        send([0, 0, 0, 4, 1, 0, 0, 0, 0])
    }

    /// The outcomes of all requests in order.
    var outcomes: [Ledger.Outcome] { state.ledger.entries.map(\.outcome) }

    /// The answers, as `stream status reason`.
    var answers: [String] {
        received.compactMap {
            guard case .answer(let stream, let fields, let body) = $0 else { return nil }
            let status = fields.first { $0.hasPrefix(":status=") }?.dropFirst(8) ?? "?"
            return body.isEmpty ? "\(stream) \(status)" : "\(stream) \(status) \(body)"
        }
    }

    /// Lets time pass, and does what is due.
    mutating func pass(_ duration: Duration) {
        now = now + duration
        turn()
    }

    /// Hands bytes in as a shell does.
    mutating func send(_ bytes: [UInt8]) {
        policy.receive(bytes.span, at: Self.time(now), sharing: &state)
        readOutput()
        turn()
    }

    /// Sends a request, or several in one go.
    mutating func request(_ requests: SampleRequest...) {
        request(requests)
    }

    /// Sends requests in one go.
    mutating func request(_ requests: [SampleRequest]) {
        var bytes: [UInt8] = []
        for request in requests {
            bytes += request.bytes(on: nextStream)
            nextStream += 2
        }
        send(bytes)
    }

    private mutating func turn() {
        // A shell comes by again at once when what it sent was an end.
        for _ in 0..<2 where ending == nil {
            let step = policy.step(at: now)
            readOutput()
            switch step {
            case .read, .wait, .send: break
            case .close, .cut, .stopListening, .release: ending = step
            }
        }
    }

    private mutating func readOutput() {
        var output: [UInt8] = []
        policy.takeOutput(into: &output, at: Self.time(now), sharing: &state)
        var rest = output[...]
        while rest.count >= 9 {
            let head = Array(rest.prefix(9))
            let count = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            let payload = Array(rest.dropFirst(9).prefix(count))
            rest = rest.dropFirst(9 + count)
            note(type: head[3], flags: head[4], stream: Self.number(head[5...]), payload: payload)
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

    private mutating func note(type: UInt8, flags: UInt8, stream: UInt32, payload: [UInt8]) {
        switch type {
        case 0:
            noteBody(payload, of: stream)
        case 1: received.append(.answer(stream: stream, fields: fields(payload), body: ""))
        case 3: received.append(.reset(stream: stream, Self.number(payload[...])))
        case 4 where flags & 1 == 0:
            let pairs = stride(from: 0, to: payload.count, by: 6).map {
                (UInt16(Self.number(payload[$0..<$0 + 2])), Self.number(payload[$0 + 2..<$0 + 6]))
            }
            received.append(.settings(Dictionary(uniqueKeysWithValues: pairs)))
        case 4: break
        case 6: received.append(flags & 1 == 0 ? .ping : .pong)
        case 7:
            let debug = String(decoding: payload[8...], as: UTF8.self)
            received.append(.goAway(Self.number(payload[..<4]), Self.number(payload[4..<8]), debug))
        case 8: received.append(.window(stream, Self.number(payload[...])))
        default: received.append(.other(type))
        }
    }

    /// Puts a piece of a body behind the answer it belongs to.
    private mutating func noteBody(_ payload: [UInt8], of stream: UInt32) {
        for (place, item) in received.enumerated().reversed() {
            guard case .answer(stream, let fields, let body) = item else { continue }
            let text = body + String(decoding: payload, as: UTF8.self)
            received[place] = .answer(stream: stream, fields: fields, body: text)
            return
        }
    }

    private func fields(_ block: [UInt8]) -> [String] {
        var fields = HeaderFields()
        do throws(HeaderBlockFault) {
            try decoder.decode(block.span, into: &fields)
        } catch {
            return ["\(error)"]
        }
        return (0..<fields.count).map {
            String(decoding: fields.name(at: $0), as: UTF8.self) + "="
                + String(decoding: fields.value(at: $0), as: UTF8.self)
        }
    }
}

/// A request for a test to change.
struct SampleRequest {
    /// The head, in order.
    var fields: [(name: String, value: String)] = [
        (":method", "POST"), (":scheme", "https"), (":authority", "localhost"),
        (":path", "/3/device/" + String(repeating: "ab", count: 32)), ("apns-topic", "com.example.weather"),
        ("apns-push-type", "alert"), ("apns-id", "123e4567-e89b-12d3-a456-4266554400a0"),
        ("apns-expiration", "1700003600"), ("apns-priority", "10"), ("apns-collapse-id", "weather"),
    ]
    var body = Array("{\"aps\":{\"alert\":\"Hello\"}}".utf8)

    /// With a field changed; `nil` leaves it out.
    func with(_ name: String, _ value: String?) -> Self {
        var changed = self
        changed.fields.removeAll { $0.name == name }
        guard let value else { return changed }
        let place = name.hasPrefix(":") ? 0 : changed.fields.count
        changed.fields.insert((name, value), at: place)
        return changed
    }

    /// With another body.
    func with(body: String) -> Self {
        var changed = self
        changed.body = Array(body.utf8)
        return changed
    }

    /// With one field more, whatever there is already.
    func adding(_ name: String, _ value: String) -> Self {
        var changed = self
        changed.fields.append((name, value))
        return changed
    }

    /// HEADERS, in literals without indexing, and DATA.
    func bytes(on stream: UInt32) -> [UInt8] {
        var block: [UInt8] = []
        for field in fields {
            block.append(0)
            for text in [field.name, field.value] {
                block += Self.length(text.utf8.count)
                block += Array(text.utf8)
            }
        }
        let head = Self.frame(type: 1, flags: body.isEmpty ? 5 : 4, stream: stream, payload: block)
        var data: [UInt8] = []
        for start in Swift.stride(from: 0, to: body.count, by: 16_384) {
            let piece = Array(body[start..<min(start + 16_384, body.count)])
            data += Self.frame(type: 0, flags: start + 16_384 >= body.count ? 1 : 0, stream: stream, payload: piece)
        }
        return head + data
    }

    private static func length(_ count: Int) -> [UInt8] {
        guard count >= 127 else { return [UInt8(count)] }
        let rest = count - 127
        return rest < 128 ? [127, UInt8(rest)] : [127, UInt8(rest & 0x7F | 0x80), UInt8(rest >> 7)]
    }

    static func frame(type: UInt8, flags: UInt8, stream: UInt32, payload: [UInt8]) -> [UInt8] {
        let count = payload.count
        return [UInt8(count >> 16), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF), type, flags]
            + (0..<4).map { UInt8(truncatingIfNeeded: stream >> (24 - 8 * $0)) } + payload
    }
}
