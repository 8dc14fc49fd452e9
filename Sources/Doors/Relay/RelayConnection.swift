import APNSModel
import APNSServing
import DoorModel
import HTTP2
import LinuxIO
import NGHTTP2
import PushModel
import SecureTransport
import ServiceProcess

/// One connection of a relay's client.
///
/// Belongs to a `RelayDoor` and is used only on its reactor.
final class RelayConnection {
    /// Its number, for the requests that wait for their job.
    let number: Int
    private let stream: SecureStream
    private let session: ServerSession
    private var client: RelayClient
    /// Until when a client that is not known must prove who it is, and how often it has tried.
    private var proofDeadline = Moment.now + Limit.patience
    private var unprovenCount = 0
    private var reading = RequestReading(takesCapitals: true)
    private var events: [ServerSession.Event] = []
    private var fields = ResponseFields()
    private var arriving: [UInt8] = []
    private var leaving: [UInt8] = []
    private var readCount = 0
    /// The requests that are being spooled.
    private(set) var spoolingCount = 0
    private var farewell = Farewell.none
    /// When something last happened that the client cannot drag out: a whole request, or an answer sent.
    private var lastProgress = Moment.now
    /// Since when a request has not arrived completely, and since when no output has left although there is some.
    private var halfDoneSince: Moment?
    private var pendingSince: Moment?
    private var handedOverByteCount = 0

    private enum Farewell {
        case none
        /// GOAWAY was announced; the last stream is named at the moment.
        case announced(final: Moment)
        /// No further requests are processed.
        case final
    }

    /// The limits of one connection.
    private enum Limit {
        /// The streams of a client. Apple grants as many, but one before the first valid token, which some clients
        /// overlook and then lose requests.
        static let streams: UInt32 = 1_000
        /// The memory of requests that have not arrived completely, of a client that is known and of one that is not.
        static let (incomplete, incompleteBeforeToken) = (8 << 20, 1 << 20)
        /// The requests of a client that has not proved who it is.
        static let requestsBeforeToken = 1_000
        /// The body bytes kept of a request. The longest payload has 5,120, so that a longer one is seen to be too long.
        static let body = 6 << 10
        /// What a client may send of one request before it is read.
        static let streamWindow: UInt32 = 16 << 10
        /// The fields of a request, as RFC 9113 counts them. A provider token has 200 bytes.
        static let headerList: UInt32 = 16 << 10
        /// The output that may wait for a slow reader; beyond it, nothing more is read from it.
        static let backlog = 1 << 20
        /// The consecutive reads before other connections get their turn.
        static let fairReads = 4
        /// How long a request may take to arrive, and an answer to leave.
        static let patience = Duration.seconds(15)
        /// How long a connection may be quiet.
        static let idle = Duration.seconds(3600)
        /// How long after the announcement of its end the last stream is named: clients need a round trip to hear of it.
        static let notice = Duration.milliseconds(500)
    }

    /// Begins a connection after its handshake.
    init(number: Int, over stream: SecureStream, certificateProducer: Int?) {
        (self.number, self.stream) = (number, stream)
        client = RelayClient(certificateProducer: certificateProducer)
        var options = ServerSession.Options()
        options.bodyLimit = Limit.body
        session = ServerSession(options: options)
        session.submit([
            .streams(Limit.streams), .streamWindow(Limit.streamWindow), .headerList(Limit.headerList),
        ])
        session.setConnectionWindow(1 << 20)
    }

    // MARK: Running

    /// Runs the connection to its end.
    ///
    /// - Throws: `SystemError` or `TLSError` if the connection fails; `CancellationError`.
    func run(in door: isolated RelayDoor) async throws {
        while true {
            try send()
            let now = Moment.now
            noteDelays(at: now, isHeldUp: door.isFull)
            if case .announced(let final) = farewell, now >= final { nameLastStream() }
            if isOver(at: now) { return await close() }
            guard stream.pendingByteCount < Limit.backlog, !door.isFull else {
                try await wait(for: [], until: min(now + .milliseconds(100), deadline))
                continue
            }
            guard try await read(in: door) else { return await close() }
        }
    }

    /// Reads what has arrived, or waits for more. Returns whether the client may send more.
    private func read(in door: isolated RelayDoor) async throws -> Bool {
        switch try stream.read(into: &arriving) {
        case .bytes:
            var bytes: [UInt8] = []
            swap(&bytes, &arriving)
            session.receive(bytes.span)
            bytes.removeAll(keepingCapacity: true)
            swap(&bytes, &arriving)
            settle(in: door)
            readCount += 1
            if readCount % Limit.fairReads == 0 { await stream.yield() }
        case .closed: return false
        case .wouldBlock: try await wait(for: .readable, until: deadline)
        }
        return true
    }

    private func wait(for interest: Readiness, until moment: Moment) async throws {
        let found = await stream.wait(for: interest, until: moment.instant)
        if found.contains(.cancelled) { throw CancellationError() }
    }

    private func settle(in door: isolated RelayDoor) {
        session.takeEvents(into: &events)
        for event in events {
            switch event {
            case .request(let request):
                lastProgress = .now
                handle(request, in: door)
                session.recycle(request)
            case .settings(let settings):
                let mark = settings.last { $0.identifier == SettingID.spoolMark.rawValue }
                client.mark = mark?.value ?? client.mark
            case .reset, .goAway, .settingsAcknowledged, .ping, .pong, .closed, .refusedBeyondLimit: break
            case .violation: door.counts.violationCount += 1
            }
        }
        events.removeAll(keepingCapacity: true)
    }

    private func handle(_ request: ServerSession.Request, in door: isolated RelayDoor) {
        reading.read(request.fields, malformed: request.malformedField)
        door.counts.requestCount += 1
        if !isKnown { unprovenCount += 1 }
        guard request.bodyByteCount <= Limit.body else {
            door.counts.refusals[Reason.payloadTooLarge.rawValue, default: 0] += 1
            return answer(
                RelayAnswer(.payloadTooLarge),
                to: waiting(on: request.stream, .init(job: JobID(bits: 0), index: 0)))
        }
        let (decision, id) = door.decide(on: reading, body: request.body[...], from: &client)
        var waiting = waiting(on: request.stream, id)
        switch decision {
        case .answer(let answer): self.answer(answer, to: waiting)
        case .spool(let spooled):
            spoolingCount += 1
            (waiting.key, waiting.producer) = (spooled.key, spooled.producer)
            door.spool(spooled, for: waiting)
        case .follow(let key):
            spoolingCount += 1
            door.follow(key, for: waiting)
        }
    }

    private func waiting(on stream: UInt32, _ id: NotificationID) -> RelayRequest {
        var request = RelayRequest(
            connection: number, stream: stream, notification: id,
            id: reading.id.map(Array.init) ?? Array(id.description.utf8))
        request.isBroadcast = reading.isAboutChannel
        return request
    }

    // MARK: Answers

    /// Answers a request whose job was dropped, or could not be. `send` must follow.
    func conclude(_ request: RelayRequest, _ answer: RelayAnswer) {
        spoolingCount -= 1
        lastProgress = .now
        self.answer(answer, to: request)
    }

    private func answer(_ answer: RelayAnswer, to request: RelayRequest) {
        fields.removeAll()
        fields.append(":status", String(answer.status))
        fields.append(request.isBroadcast ? "apns-request-id" : "apns-id", request.id[...], isIndexed: false)
        if answer.isSpooledOnly { fields.append("pushspool-spooled", "1") }
        session.respond(on: request.stream, &fields, body: answer.body)
    }

    /// Passes what is to be sent to the kernel, as far as it takes it.
    ///
    /// - Throws: `SystemError` or `TLSError` if the connection fails.
    func send() throws {
        var bytes: [UInt8] = []
        swap(&bytes, &leaving)
        session.takeOutput(into: &bytes)
        if !bytes.isEmpty { try stream.write(bytes.span) }
        bytes.removeAll(keepingCapacity: true)
        swap(&bytes, &leaving)
        _ = try stream.flush()
    }

    /// Notes since when the client keeps the relay waiting. While the relay reads nothing, the client is not to blame.
    private func noteDelays(at now: Moment, isHeldUp: Bool) {
        halfDoneSince = isHalfDone ? max(halfDoneSince ?? now, isHeldUp ? now : lastProgress) : nil
        let hasLeft = stream.handedOverByteCount != handedOverByteCount
        handedOverByteCount = stream.handedOverByteCount
        pendingSince = stream.pendingByteCount > 0 ? (hasLeft ? now : pendingSince ?? now) : nil
        if isHeldUp { proofDeadline = max(proofDeadline, now + Limit.patience) }
    }

    // MARK: The end

    /// Announces the end: the client opens no more requests, and those that it has opened are answered.
    func beginLeaving() {
        guard case .none = farewell else { return }
        session.noticeShutdown()
        farewell = .announced(final: .now + Limit.notice)
        stream.wake()
    }

    private func nameLastStream() {
        session.goAway(lastStream: session.lastStream, .noError)
        farewell = .final
    }

    /// Wakes the connection, to read on or to notice that something has changed.
    func wake() { stream.wake() }

    /// Whether the client has proved who it is. If not, it has to leave when others need the place.
    var isKnown: Bool { client.isKnown }

    /// When the client's patience, or the relay's, ends next. Requests that prove nothing do not extend it.
    private var deadline: Moment {
        if !isKnown { return min(nextDeadline, proofDeadline) }
        return client.provedAt.map { min(nextDeadline, $0 + Limit.idle) } ?? nextDeadline
    }

    private var nextDeadline: Moment {
        if case .announced(let final) = farewell { return final }
        if let pendingSince { return pendingSince + Limit.patience }
        // It is the relay's turn, or the gateway's.
        if spoolingCount > 0 { return .now + Limit.patience }
        if let halfDoneSince { return halfDoneSince + Limit.patience }
        return lastProgress + (isKnown ? Limit.idle : Limit.patience)
    }

    /// Whether there are requests that have not arrived completely.
    private var isHalfDone: Bool { session.openStreamCount > spoolingCount }

    private func isOver(at now: Moment) -> Bool {
        if session.isFinished, spoolingCount == 0 { return true }
        if session.incompleteByteCount > (isKnown ? Limit.incomplete : Limit.incompleteBeforeToken) {
            session.goAway(lastStream: 0, .enhanceYourCalm)
            return true
        }
        if case .final = farewell, session.openStreamCount == 0, spoolingCount == 0 { return true }
        if !isKnown, unprovenCount >= Limit.requestsBeforeToken {
            session.goAway(lastStream: session.lastStream, .enhanceYourCalm)
            return true
        }
        guard now >= deadline else { return false }
        if case .none = farewell {
            session.goAway(lastStream: session.lastStream, isHalfDone ? .enhanceYourCalm : .noError)
        }
        return true
    }

    private func close() async {
        // The peer learns why. If that fails, the connection is broken, which is an end too.
        _ = try? send()
        _ = await stream.shutdown(until: (Moment.now + .seconds(1)).instant)
    }
}
