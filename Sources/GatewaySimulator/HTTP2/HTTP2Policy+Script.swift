import HTTP2
import NGHTTP2
import PushModel

extension HTTP2Policy {
    /// Performs an action of the script for a request, or for the moment between two.
    ///
    /// - Returns: The outcome of the request, or `nil` if the rules decide it.
    mutating func act(
        _ action: FaultAction, on subject: Subject?, at now: GatewayPolicy.Now
    ) -> Ledger.Outcome? {
        switch action {
        case .answer, .withhold, .refuseStream, .inform: return subject.flatMap { deal(with: $0, by: action, at: now) }
        case .goAway(let goAway): return leave(goAway, from: subject, at: now.moment)
        case .end(let ending, let delay):
            state = .doomed(ending, due: now.moment + delay)
            return .discarded
        case .pause(let duration):
            state = .paused(until: duration.map { now.moment + $0 })
            return duration == nil ? .discarded : nil
        case .mute:
            goMute()
            return .discarded
        case .flood(let flood, let count):
            return send(flood, count: count, on: subject)
        case .slow(let rate): pace.slow(to: rate, at: now.moment)
        case .latency(let delay, let jitter): latency = (delay, jitter)
        case .stopListening(let duration): listeningStop = duration
        case .settings(let changed): session.submit(changed.parameters)
        case .grant(let byteCount):
            session.windows = .manual
            (windowGrant, grantedByteCount) = (byteCount, session.receivedDataByteCount)
        case .unknownFrame: session.inject(RawFrame(type: 0xEE, payload: Array("whatever".utf8)).bytes)
        case .ignorePings: session.answersPings = false
        case .reply, .refuseConnection, .failHandshake, .withholdTickets: break
        }
        return nil
    }

    /// Performs an action that concerns a single request.
    private mutating func deal(
        with subject: Subject, by action: FaultAction, at now: GatewayPolicy.Now
    ) -> Ledger.Outcome? {
        switch action {
        case .answer(let scripted):
            let answer = api.answer(by: scripted, at: now.wallTime)
            send(answer, to: subject, after: scripted.delay, at: now.moment)
            return answer.outcome
        case .withhold:
            return .accepted
        case .refuseStream(let code):
            session.reset(subject.stream, ErrorCode(rawValue: code))
            return .discarded
        case .inform(let status):
            var fields = ResponseFields()
            fields.append(":status", String(status))
            session.inform(on: subject.stream, &fields)
            return nil
        case .goAway, .end, .pause, .mute, .flood, .slow, .latency, .stopListening, .settings, .grant, .unknownFrame,
            .ignorePings, .reply, .refuseConnection, .failHandshake, .withholdTickets:
            return nil
        }
    }

    private mutating func send(_ flood: FaultAction.Flood, count: Int, on subject: Subject?) -> Ledger.Outcome? {
        let stream = subject?.stream ?? max(session.lastStream, 1)
        switch flood {
        case .settings: for _ in 0..<count { session.submit([]) }
        case .ping: for number in 0..<count { session.ping(UInt64(number)) }
        case .rst:
            let frame = RawFrame(type: 3, stream: stream, payload: [0, 0, 0, 8]).bytes
            for _ in 0..<count { session.inject(frame) }
        case .window:
            let frame = RawFrame(type: 8, payload: [0, 0, 0, 1]).bytes
            for _ in 0..<count { session.inject(frame) }
        case .continuation:
            session.inject(RawFrame(type: 1, stream: stream, payload: [0x88]).bytes)
            let frame = RawFrame(type: 9, stream: stream, payload: Self.junkFields).bytes
            for _ in 0..<count { session.inject(frame) }
            return subject == nil ? nil : .discarded
        }
        return nil
    }

    /// `a: b`, without indexing, two hundred times.
    private static let junkFields = (0..<200).flatMap { _ in [0x00, 1, 0x61, 1, 0x62] as [UInt8] }
}

extension FaultAction.ChangedSettings {
    fileprivate var parameters: [ServerSession.Setting] {
        [
            table.map { .headerTable($0) }, streams.map { .streams($0) }, window.map { .streamWindow($0) },
            frame.map { .frame($0) }, list.map { .headerList($0) },
        ].compactMap { $0 }
    }
}

/// A handmade frame (RFC 9113 §4.1), without flags.
struct RawFrame {
    let type: UInt8
    var stream: UInt32 = 0
    let payload: [UInt8]

    var bytes: [UInt8] {
        let count = payload.count
        let head = [UInt8(count >> 16 & 0xFF), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF), type, 0]
        return head + (0..<4).map { UInt8(truncatingIfNeeded: stream >> (24 - 8 * $0)) } + payload
    }
}
