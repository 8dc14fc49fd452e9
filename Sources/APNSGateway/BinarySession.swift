import APNSBinary
import APNSModel
import LinuxIO
import OpenSSL
import SecureTransport

/// One connection of the binary protocol: its stream, and the machine that knows what is in doubt on it.
///
/// Belongs to its gateway, on the reactor.
final class BinarySession: GatewaySession {
    /// How a session came to its end.
    enum End {
        /// The gateway answered.
        case reply(ErrorReply)
        /// The stream ended or failed without an answer.
        case lost(GatewayFault)
        /// The peer refused our certificate, however late it said so.
        case refused(GatewayFault)
        /// We closed it, with nothing in doubt.
        case closed
    }

    /// As much ciphertext as may wait for the kernel before no more frames are made.
    private static let pendingLimit = 256 * 1024
    /// The plaintext of a full TLS record.
    private static let recordByteCount = 16_384
    /// How long an error reply may take to arrive behind a write that failed.
    private static let farewell = Duration.seconds(1)

    let generation: Int
    let opened = Moment(nanoseconds: BootClock.nanoseconds())
    private let stream: SecureStream
    private let options: BinaryGateway.Configuration
    private var pipeline: PipelineMachine
    private var sheet = FrameSheet(byteLimit: BinarySession.recordByteCount)
    private var received: [UInt8] = []
    private(set) var hasAcceptance = false
    private var lastWrite: Moment
    /// Until then `settle` has nothing to say.
    private var nextSettling: Moment
    var countedDoubt = 0
    private var writeFailure: (fault: GatewayFault, deadline: Moment)?

    init(_ stream: SecureStream, _ configuration: BinaryGateway.Configuration, generation: Int) {
        self.stream = stream
        self.options = configuration
        self.generation = generation
        self.pipeline = PipelineMachine(options: configuration.pipelineOptions)
        self.lastWrite = opened
        self.nextSettling = opened
    }

    /// How many notifications are in doubt.
    var doubtCount: Int { pipeline.doubtCount }

    /// How many notifications it takes now.
    var room: Int {
        writeFailure == nil && stream.pendingByteCount < Self.pendingLimit ? pipeline.room : 0
    }

    /// Whether its window is full.
    var isExhausted: Bool { room == 0 }

    func wake() { stream.wake() }

    /// Encrypts as much of the batch as fits.
    func write(_ batch: inout Batch) throws {
        while !batch.isEmpty, room > 0 {
            pipeline.write(&batch, on: &sheet)
            try sheet.withFrames(stream.write)
            pipeline.mark(offset: UInt64(stream.encryptedByteCount))
        }
        lastWrite = .now
    }

    /// Reads what there is. Returns how the session ended, or `nil` while it goes on.
    func read() -> End? {
        do {
            while true {
                received.removeAll(keepingCapacity: true)
                switch try stream.read(into: &received) {
                case .bytes:
                    if let reply = try pipeline.receive(received) { return .reply(reply) }
                case .wouldBlock:
                    return writeFailureEnd
                case .closed:
                    return .lost(
                        writeFailure?.fault ?? GatewayFault("the gateway closed the connection without an answer"))
                }
            }
        } catch {
            return end(of: error)
        }
    }

    /// Hands ciphertext to the kernel. A failure is kept for `read` to report, since an error reply may be waiting.
    func flush() {
        guard writeFailure == nil else { return }
        do {
            _ = try stream.flush()
        } catch {
            writeFailure = (GatewayFault("writing failed: \(error)"), .now + Self.farewell)
        }
    }

    /// Returns what silence has proved. Asks only now and then, so that a busy connection tells outcomes in large groups.
    func settle() -> [Settlement] {
        guard Moment.now >= nextSettling else { return [] }
        nextSettling = .now + acknowledgementPause
        pipeline.acknowledge(UInt64(stream.acknowledgedByteCount), at: .now)
        return accept(pipeline.settle(at: .now))
    }

    /// Writes the flush probe if acceptance is proved by it alone and there is nothing else to do.
    func probeIfIdle(hasWork: Bool) throws {
        guard options.confirmation == .probe, doubtCount > 0, !pipeline.isProbing, writeFailure == nil,
            !hasWork || pipeline.room == 0, Moment.now >= lastWrite + .milliseconds(50)
        else { return }
        var probe: [UInt8] = []
        pipeline.writeProbe(into: &probe)
        try stream.write(probe.span)
        pipeline.mark(offset: UInt64(stream.encryptedByteCount))
        lastWrite = .now
    }

    /// Whether an outstanding probe has waited too long.
    var hasUnansweredProbe: Bool {
        pipeline.isProbing && Moment.now >= lastWrite + options.answerTimeout
    }

    /// Whether it is as old as connections may become.
    var isOld: Bool { options.maxAge.map { opened + $0 <= .now } ?? false }

    /// Whether nothing is in doubt and nothing has been written for as long as an idle connection may stay open.
    var isIdle: Bool {
        doubtCount == 0 && Moment.now >= lastWrite + options.idleLimit
    }

    /// Waits for the stream, or until something must be looked at again, at `deadline` at the latest.
    func wait(until deadline: ContinuousClock.Instant?) async -> Readiness {
        let look = nextLook.instant
        return await stream.wait(for: .readable, until: min(look, deadline ?? look))
    }

    /// Closes in good order. Returns a reply, should one still come: what silence had proved it disproves.
    func close() async -> End {
        let farewell = await stream.shutdown(until: .now + Self.farewell)
        guard let reply = try? pipeline.receive(farewell.late) else { return .closed }
        return .reply(reply)
    }

    /// Cuts the connection.
    func abort() { stream.abort() }

    /// What the end proves about the notifications in doubt. Credentials are proven that ever had an acceptance.
    func conclude(_ end: End, isProven: Bool) -> Conclusion {
        var conclusion =
            switch end {
            case .reply(let reply): pipeline.end(.reply(reply))
            case .refused: pipeline.end(.refused)
            // Without identifiers a close is also how one bad notification is answered: then it has to be looked for.
            case .lost where isFresh && !isProven && options.format.carriesIdentifier: pipeline.end(.refused)
            case .lost, .closed: pipeline.end(.silent(handedOver: UInt64(stream.handedOverByteCount)))
            }
        conclusion.settlements = accept(conclusion.settlements)
        return conclusion
    }

    /// Whether nothing was ever accepted and the handshake is only a moment ago: then an end means that we are not
    /// wanted, and what was written is taken as not sent. Command 0 knows no other refusal than to close, so there it
    /// says nothing.
    var isFresh: Bool {
        options.format != .simple && !hasAcceptance && Moment.now < opened + .seconds(1)
    }

    private func accept(_ settlements: [Settlement]) -> [Settlement] {
        hasAcceptance = hasAcceptance || settlements.contains { $0.outcome == .accepted }
        return settlements
    }

    private var writeFailureEnd: End? {
        guard let (fault, deadline) = writeFailure, Moment.now >= deadline else { return nil }
        return .lost(fault)
    }

    private func end(of error: any Error) -> End {
        if let error = error as? TLSError, error.isOwnCertificateRefused, !hasAcceptance {
            return .refused(GatewayFault(error.message, hint: error.hint))
        }
        return .lost(GatewayFault("the connection failed: \(error)"))
    }

    /// The kernel does not tell when the peer acknowledges, so it is asked again and again while that matters.
    private var nextLook: Moment {
        let now = Moment.now
        var next = min(lastWrite + options.idleLimit, now + .seconds(30))
        if let maxAge = options.maxAge, !isOld { next = min(next, opened + maxAge) }
        if doubtCount == 0 { return max(next, now + .milliseconds(1)) }
        if pipeline.isAwaitingAcknowledgement { next = min(next, now + acknowledgementPause) }
        if let settlement = pipeline.nextSettlement { next = min(next, max(settlement, nextSettling)) }
        if options.confirmation == .probe {
            next = min(next, lastWrite + (pipeline.isProbing ? options.answerTimeout : .milliseconds(50)))
        }
        if let deadline = writeFailure?.deadline { next = min(next, deadline) }
        return max(next, now + .milliseconds(1))
    }

    private var acknowledgementPause: Duration {
        guard case .silence(let duration) = options.confirmation else { return .milliseconds(250) }
        return min(.milliseconds(250), max(.milliseconds(5), duration / 20))
    }
}
