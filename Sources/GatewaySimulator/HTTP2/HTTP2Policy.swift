import APNSHTTP2
import APNSModel
import Document
import HTTP2
import JSON
import NGHTTP2

/// One HTTP/2 connection of a simulated gateway: bytes in, entries of the ledger and bytes out, and the next thing to do.
///
/// The shell hands in what it read, sends what `takeOutput` yields, asks `step(at:)` and does what it says. No clock, no
/// socket; nghttp2's server does the framing.
struct HTTP2Policy {
    enum State {
        case open
        case paused(until: Moment?)
        /// The end is coming: what still comes is discarded.
        case doomed(FaultAction.Ending, due: Moment)
        case closing(Closing)
    }

    let connection: Int
    let session: ServerSession
    var state = State.open
    var leaving = Leaving.no
    var identity: ClientIdentity
    var reading = RequestReading()
    var arrivedCount = 0
    var pending = PendingAnswers()
    var delay: Duration
    var jitter: Duration
    private(set) var isMute = false
    /// What was to be said before the gateway went mute.
    private var lastWords: [UInt8] = []
    private let tellsUniqueIDs: Bool
    var listeningStop: Duration?
    var pace = ReadPace()
    /// How many bytes of bodies open the connection's window again; `nil`: nghttp2 sees to it.
    var windowGrant: Int?
    var grantedByteCount = 0
    private var peerHasEnded = false
    private var lastGoodPayload: [UInt8] = []
    private var events: [ServerSession.Event] = []
    private var responseFields = ResponseFields()
    private var parser = JSON.Parser()
    /// The limit that is lifted by the first success.
    private var firstLimit: Int?
    var random: SplitMix

    /// Begins with a connection whose handshake has just succeeded; its number counts from 1.
    ///
    /// - Parameters:
    ///   - connection: Its number.
    ///   - certificateTopics: The topics of the client's certificate; `nil`: it showed none.
    ///   - now: The time.
    ///   - shared: What all connections share.
    init(
        connection: Int, certificateTopics: [String]?, at now: GatewayPolicy.Now, sharing shared: inout GatewayState
    ) {
        let manner = shared.manner
        self.connection = connection
        identity = ClientIdentity(certificateTopics: certificateTopics)
        (delay, jitter, windowGrant) = (manner.latency, manner.jitter, manner.windowGrant)
        tellsUniqueIDs = manner.tellsUniqueIDs
        random = SplitMix(seed: UInt64(connection))
        firstLimit = identity.usesToken ? manner.streamLimitBeforeToken : nil
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

    /// Takes bytes that were read.
    mutating func receive(_ bytes: Span<UInt8>, at now: GatewayPolicy.Now, sharing shared: inout GatewayState) {
        session.receive(bytes)
        settle(at: now, sharing: &shared)
        grantIfDue()
        pace.didRead(bytes.count, at: now.moment)
    }

    /// Appends what there is to send.
    mutating func takeOutput(into output: inout [UInt8], at now: GatewayPolicy.Now, sharing shared: inout GatewayState)
    {
        output.append(contentsOf: lastWords)
        lastWords.removeAll()
        if isDeaf { return }
        while let due = pending.next(at: now.moment) { respond(due.answer, on: due.stream, id: due.id[...]) }
        session.takeOutput(into: &output)
        settle(at: now, sharing: &shared)
    }

    /// Notes that the peer will send no more.
    mutating func peerEnded() {
        peerHasEnded = true
    }

    /// Ends the connection on the spot, whatever it was about to do.
    mutating func drop(resetting: Bool) {
        state = .doomed(resetting ? .reset : .close, due: .zero)
    }

    /// Says nothing more from now on.
    mutating func goMute() {
        session.takeOutput(into: &lastWords)
        isMute = true
    }

    /// Whether nothing is sent any more, not even by nghttp2.
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

    /// Deals with what nghttp2 has found out.
    private mutating func settle(at now: GatewayPolicy.Now, sharing shared: inout GatewayState) {
        var events = events
        self.events = []
        session.takeEvents(into: &events)
        for event in events { take(event, at: now, sharing: &shared) }
        events.removeAll(keepingCapacity: true)
        self.events = events
    }

    private mutating func take(
        _ event: ServerSession.Event, at now: GatewayPolicy.Now, sharing shared: inout GatewayState
    ) {
        switch event {
        case .request(let request):
            take(request, at: now, sharing: &shared)
            session.recycle(request)
        case .violation(let violation):
            note(violation.message, on: violation.stream, sharing: &shared)
        case .goAway(_, let code, _):
            shared.ledger.noteGoAway(code.rawValue, onConnection: connection)
        case .reset, .settings, .settingsAcknowledged, .ping, .pong, .closed, .refusedBeyondLimit:
            break
        }
    }

    func note(_ message: String, on stream: UInt32, sharing shared: inout GatewayState) {
        shared.ledger.note(Ledger.Violation(connection: connection, stream: stream, message: message))
    }
}

// Requests.
extension HTTP2Policy {
    private mutating func take(
        _ request: ServerSession.Request, at now: GatewayPolicy.Now, sharing shared: inout GatewayState
    ) {
        arrivedCount += 1
        reading.read(request.fields)
        noteOddities(of: request, sharing: &shared)
        let id = reading.id ?? random.identifier()[...]
        let outcome = judge(request, id: id, at: now, sharing: &shared)
        let isKept = shared.ledger.keepsEntries
        let arrived = ArrivedRequest(
            token: reading.token, payload: isKept ? request.body : [], expiry: reading.expiry,
            priority: reading.priority,
            head: KeptHead(
                stream: request.stream, id: isKept ? Array(id) : [], fields: isKept ? request.fields : HeaderFields()))
        shared.ledger.note(
            arrived, as: .init(connection: connection, sequence: arrivedCount, time: now.wallTime, outcome: outcome))
        pause(at: now, sharing: &shared)
    }

    /// Notes what a gateway lets pass, but a client should not do.
    private func noteOddities(of request: ServerSession.Request, sharing shared: inout GatewayState) {
        if let name = reading.strangeName {
            note("\(name) is no field of Apple's", on: request.stream, sharing: &shared)
        }
        if request.hasTrailer { note("fields behind the body", on: request.stream, sharing: &shared) }
        if request.fields.listByteCount > shared.manner.headerListLimit {
            note("a list of fields beyond the limit", on: request.stream, sharing: &shared)
        }
    }

    private mutating func judge(
        _ request: ServerSession.Request, id: ArraySlice<UInt8>, at now: GatewayPolicy.Now,
        sharing shared: inout GatewayState
    ) -> Ledger.Outcome {
        guard case .open = state, !isMute, !collects(request.stream, at: now.moment) else { return .discarded }
        if let action = shared.http2Script.arrived(
            token: reading.token.span, payload: request.body.span, count: arrivedCount, on: connection),
            let outcome = act(action, on: Subject(stream: request.stream, id: id), at: now)
        {
            return outcome
        }
        let answer = answer(to: request, at: now, terms: shared.requestTerms)
        give(answer, to: Subject(stream: request.stream, id: id), after: ownDelay(), at: now.moment)
        if answer.status == 200 { liftLimit(shared.manner) }
        return answer.outcome
    }

    /// A request as a script acts on it.
    struct Subject {
        let stream: UInt32
        let id: ArraySlice<UInt8>
    }

    /// What a strict gateway says.
    private mutating func answer(
        to request: ServerSession.Request, at now: GatewayPolicy.Now, terms: RequestTerms
    ) -> RequestAnswer {
        let rules = terms.rules
        if let fault = reading.addressFault ?? fault(ofIdentityAt: now, terms: terms) ?? reading.headFault {
            return RequestAnswer(fault)
        }
        if rules.requiresPushType, reading.pushType == nil { return RequestAnswer(.invalidPushType) }
        if let fault = payloadFault(of: request, rules: rules) { return RequestAnswer(fault) }
        return rules.answer(about: reading.token)
    }

    private mutating func payloadFault(of request: ServerSession.Request, rules: RequestRules) -> Reason? {
        if request.bodyByteCount == 0 { return .payloadEmpty }
        let limit = reading.pushType == .voip ? rules.voipPayloadLimit : rules.payloadLimit
        if request.bodyByteCount > limit { return .payloadTooLarge }
        guard rules.refusesOtherThanObjects, !request.body[...].isSame(as: lastGoodPayload) else { return nil }
        guard isObject(request.body) else { return .badRequestPayload }
        lastGoodPayload = request.body
        return nil
    }

    private mutating func fault(ofIdentityAt now: GatewayPolicy.Now, terms: RequestTerms) -> Reason? {
        identity.fault(in: reading, at: now, terms: terms, parser: &parser)
    }

    private mutating func isObject(_ bytes: [UInt8]) -> Bool {
        do throws(Diagnostic) {
            return try parser.parse(bytes).root.kind == .mapping
        } catch {
            // Why it is none is for the client's own tests to find out.
            return false
        }
    }

    /// Lifts the limit that holds until the first success with a provider token.
    private mutating func liftLimit(_ manner: HTTP2Manner) {
        guard firstLimit != nil else { return }
        firstLimit = nil
        session.submit([.streams(UInt32(clamping: manner.streamLimit))])
    }

    private mutating func ownDelay() -> Duration {
        jitter == .zero ? delay : delay + jitter * random.fraction()
    }

    /// Answers, now or later.
    mutating func give(_ answer: RequestAnswer, to subject: Subject, after delay: Duration, at now: Moment) {
        guard delay > .zero else { return respond(answer, on: subject.stream, id: subject.id) }
        pending.add(.init(due: now + delay, stream: subject.stream, id: Array(subject.id), answer: answer))
    }

    private mutating func respond(_ answer: RequestAnswer, on stream: UInt32, id: ArraySlice<UInt8>) {
        let uniqueID = tellsUniqueIDs ? String(decoding: random.identifier(), as: UTF8.self) : nil
        answer.write(into: &responseFields, id: id, uniqueID: uniqueID)
        session.respond(on: stream, &responseFields, body: answer.body)
    }

    /// Asks the script for the moment between two requests.
    private mutating func pause(at now: GatewayPolicy.Now, sharing shared: inout GatewayState) {
        guard let action = shared.http2Script.pausing(after: arrivedCount, on: connection) else { return }
        _ = act(action, on: nil, at: now)
    }
}

// What comes next.
extension HTTP2Policy {
    /// What the shell has to do next, once it has sent what there is.
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
