import HTTP2
import NGHTTP2
import PushModel

/// The logic of one HTTP/2 connection of a simulated gateway: consumes bytes, produces ledger entries, bytes to send
/// and the next step.
///
/// The shell passes in the bytes it read, sends the result of `takeOutput`, calls `step(at:)` and performs the step.
/// Uses no clock and no socket. nghttp2's server handles the framing.
struct HTTP2Policy {
    enum State {
        case open
        case paused(until: Moment?)
        /// The end is pending: requests that arrive are discarded.
        case doomed(FaultAction.Ending, due: Moment)
        case closing(Closing)
    }

    let connection: Int
    let session: ServerSession
    var state = State.open
    var leaving = Leaving.no
    var api: any ServedAPI
    var arrivedCount = 0
    var pending = PendingAnswers()
    /// How long an answer takes, and how much longer at most, at random.
    var latency: (delay: Duration, jitter: Duration)
    private(set) var isMute = false
    /// The output that was pending when the gateway went mute.
    private var lastWords: [UInt8] = []
    private let tellsUniqueIDs: Bool
    var listeningStop: Duration?
    var pace = ReadPace()
    /// The number of body bytes after which the connection's window is refilled; `nil` means that nghttp2 refills it.
    var windowGrant: Int?
    var grantedByteCount = 0
    private var peerHasEnded = false
    private var events: [ServerSession.Event] = []
    private var responseFields = ResponseFields()
    /// The stream limit that applies until the first success, or `nil` if none applies.
    private var firstLimit: Int?
    var random: SplitMix

    /// Begins a connection after a successful handshake.
    ///
    /// - Parameters:
    ///   - connection: Its number, from 1.
    ///   - api: The API that it serves.
    ///   - now: The time.
    ///   - shared: The state that all connections share.
    init(
        connection: Int, serving api: any ServedAPI, at now: GatewayPolicy.Now, sharing shared: inout GatewayState
    ) {
        let manner = shared.manner(of: api.port)
        (self.connection, self.api) = (connection, api)
        (latency, windowGrant) = ((manner.latency, manner.jitter), manner.windowGrant)
        tellsUniqueIDs = manner.tellsUniqueIDs
        random = SplitMix(seed: UInt64(connection))
        firstLimit = api.usesToken ? manner.streamLimitBeforeToken : nil
        var options = ServerSession.Options()
        options.windows = manner.windowGrant == nil ? .automatic : .manual
        session = ServerSession(options: options)
        session.submit([
            .headerTable(UInt32(clamping: manner.headerTable)),
            .streams(UInt32(clamping: firstLimit ?? manner.streamLimit)),
            .streamWindow(UInt32(clamping: manner.streamWindow)), .frame(UInt32(clamping: manner.frameLimit)),
            .headerList(UInt32(clamping: manner.headerListLimit)),
        ])
        if manner.connectionWindow > 65_535 {
            session.setConnectionWindow(Int32(clamping: manner.connectionWindow))
        }
        pause(at: now, sharing: &shared)
    }

    /// Processes the bytes read.
    mutating func receive(_ bytes: Span<UInt8>, at now: GatewayPolicy.Now, sharing shared: inout GatewayState) {
        session.receive(bytes)
        settle(at: now, sharing: &shared)
        grantIfDue()
        pace.didRead(bytes.count, at: now.moment)
    }

    /// Appends the pending output.
    mutating func takeOutput(into output: inout [UInt8], at now: GatewayPolicy.Now, sharing shared: inout GatewayState)
    {
        output.append(contentsOf: lastWords)
        lastWords.removeAll()
        if isDeaf { return }
        while let due = pending.next(at: now.moment) { respond(due.answer, on: due.stream, id: due.id[...]) }
        session.takeOutput(into: &output)
        settle(at: now, sharing: &shared)
    }

    /// Records that the peer has ended its side of the connection.
    mutating func peerEnded() {
        peerHasEnded = true
    }

    /// Ends the connection immediately, in any state.
    mutating func drop(resetting: Bool) {
        state = .doomed(resetting ? .reset : .close, due: .zero)
    }

    /// Sends nothing more from now on, except output that is already pending.
    mutating func goMute() {
        session.takeOutput(into: &lastWords)
        isMute = true
    }

    /// Whether nothing more is sent, not even by nghttp2.
    private var isDeaf: Bool {
        switch state {
        case .closing(.staying), .closing(.over): true
        case .open, .paused, .doomed, .closing(.draining): isMute
        }
    }

    private mutating func grantIfDue() {
        guard let windowGrant, windowGrant > 0 else { return }
        let used = session.receivedDataByteCount - grantedByteCount
        guard used >= windowGrant else { return }
        grantedByteCount += used
        session.grant(Int32(clamping: used), onStream: 0)
    }

    /// Processes the events from nghttp2.
    private mutating func settle(at now: GatewayPolicy.Now, sharing shared: inout GatewayState) {
        var events = events
        self.events = []
        session.takeEvents(into: &events)
        for event in events { handle(event, at: now, sharing: &shared) }
        events.removeAll(keepingCapacity: true)
        self.events = events
    }

    private mutating func handle(
        _ event: ServerSession.Event, at now: GatewayPolicy.Now, sharing shared: inout GatewayState
    ) {
        switch event {
        case .request(let request):
            handle(request, at: now, sharing: &shared)
            session.recycle(request)
        case .violation(let violation):
            note(violation.message, on: violation.stream, sharing: &shared)
        case .goAway(_, let code, _):
            shared.ledger.noteGoAway(code.rawValue, onConnection: connection)
        case .ping:
            guard api.isExcessivePing(withStreams: session.openStreamCount) else { break }
            note("a connection without streams is kept alive by PINGs", on: 0, sharing: &shared)
            var goAway = FaultAction.GoAway()
            (goAway.code, goAway.debug) = (ErrorCode.enhanceYourCalm.rawValue, Array("too_many_pings".utf8))
            _ = leave(goAway, from: nil, at: now.moment)
        case .reset, .settings, .settingsAcknowledged, .pong, .closed, .refusedBeyondLimit:
            break
        }
    }

    func note(_ message: String, on stream: UInt32, sharing shared: inout GatewayState) {
        shared.ledger.note(Ledger.Violation(connection: connection, stream: stream, message: message))
    }
}

// Processing of requests.
extension HTTP2Policy {
    private mutating func handle(
        _ request: ServerSession.Request, at now: GatewayPolicy.Now, sharing shared: inout GatewayState
    ) {
        arrivedCount += 1
        let id = api.read(request, at: now.wallTime, &random)
        noteOddities(of: request, sharing: &shared)
        let outcome = judge(request, id: id, at: now, sharing: &shared)
        let arrival = Ledger.Arrival(
            connection: connection, sequence: arrivedCount, time: now.wallTime, outcome: outcome)
        api.note(request, id: id, as: arrival, in: &shared.ledger)
        pause(at: now, sharing: &shared)
    }

    /// Records oddities that a gateway tolerates but that a client should avoid.
    private func noteOddities(of request: ServerSession.Request, sharing shared: inout GatewayState) {
        for oddity in api.oddities { note(oddity, on: request.stream, sharing: &shared) }
        if request.hasTrailer { note("fields after the body", on: request.stream, sharing: &shared) }
        if request.fields.listByteCount > shared.manner(of: api.port).headerListLimit {
            note("a field list over the limit", on: request.stream, sharing: &shared)
        }
    }

    private mutating func judge(
        _ request: ServerSession.Request, id: ArraySlice<UInt8>, at now: GatewayPolicy.Now,
        sharing shared: inout GatewayState
    ) -> Ledger.Outcome {
        guard case .open = state, !isMute, !collects(request.stream, at: now.moment) else { return .discarded }
        if let action = shared.scripts[api.port]?.arrived(
            token: api.address.span, payload: request.body.span, count: arrivedCount, on: connection),
            let outcome = act(action, on: Subject(stream: request.stream, id: id), at: now)
        {
            if api.takesEffectUnanswered, action == .withhold {
                _ = api.answer(to: request, id: id, at: now, sharing: &shared)
            }
            return outcome
        }
        let answer = api.answer(to: request, id: id, at: now, sharing: &shared)
        send(answer, to: Subject(stream: request.stream, id: id), after: ownDelay(), at: now.moment)
        if answer.isSuccess { liftLimit(shared.manner(of: api.port)) }
        return answer.outcome
    }

    /// A request that a script's action applies to.
    struct Subject {
        let stream: UInt32
        let id: ArraySlice<UInt8>
    }

    /// Lifts the limit that applies until the first success with a provider token.
    private mutating func liftLimit(_ manner: HTTP2Manner) {
        guard firstLimit != nil else { return }
        firstLimit = nil
        session.submit([.streams(UInt32(clamping: manner.streamLimit))])
    }

    private mutating func ownDelay() -> Duration {
        latency.jitter == .zero ? latency.delay : latency.delay + latency.jitter * random.fraction()
    }

    /// Sends an answer, immediately or after a delay.
    mutating func send(_ answer: RequestAnswer, to subject: Subject, after delay: Duration, at now: Moment) {
        guard delay > .zero else { return respond(answer, on: subject.stream, id: subject.id) }
        pending.add(.init(due: now + delay, stream: subject.stream, id: Array(subject.id), answer: answer))
    }

    private mutating func respond(_ answer: RequestAnswer, on stream: UInt32, id: ArraySlice<UInt8>) {
        let uniqueID = tellsUniqueIDs ? String(decoding: random.identifier(), as: UTF8.self) : nil
        answer.write(into: &responseFields, id: id, uniqueID: uniqueID)
        session.respond(on: stream, &responseFields, body: answer.body)
    }

    /// Performs the script's action for the moment between two requests, if any.
    private mutating func pause(at now: GatewayPolicy.Now, sharing shared: inout GatewayState) {
        guard let action = shared.scripts[api.port]?.pausing(after: arrivedCount, on: connection) else { return }
        _ = act(action, on: nil, at: now)
    }
}

// The next step.
extension HTTP2Policy {
    /// Returns the shell's next step after it has sent the pending output.
    mutating func step(at now: Moment) -> GatewayPolicy.Step {
        if let duration = listeningStop {
            listeningStop = nil
            return .stopListening(duration)
        }
        leave(at: now)
        switch state {
        case .open:
            if peerHasEnded || session.isFinished && !leaving.stays { return conclude(.close, at: now) }
            return read(until: earlier(pending.nextDue, leaving.due), at: now)
        case .paused(let until):
            guard let until, now >= until else { return .wait(until: earlier(until, pending.nextDue)) }
            state = .open
            return step(at: now)
        case .doomed(let ending, let due):
            return now >= due ? conclude(ending, at: now) : read(until: earlier(due, pending.nextDue), at: now)
        case .closing(var closing):
            let step = closing.step(peerHasEnded: peerHasEnded, at: now)
            state = .closing(closing)
            return step ?? read(until: nil, at: now)
        }
    }

    private func earlier(_ left: Moment?, _ right: Moment?) -> Moment? {
        guard let left, let right else { return left ?? right }
        return min(left, right)
    }

    private func read(until deadline: Moment?, at now: Moment) -> GatewayPolicy.Step {
        peerHasEnded ? .wait(until: deadline) : pace.step(until: deadline, at: now)
    }

    private mutating func conclude(_ ending: FaultAction.Ending, at now: Moment) -> GatewayPolicy.Step {
        pending.removeAll()
        let (closing, step) = Closing.begin(ending, at: now)
        state = .closing(closing)
        return step ?? self.step(at: now)
    }
}
