import APNSBinary
import LinuxIO
import OpenSSL
import PushModel
import SecureTransport
import ServiceProcess

/// One connection of the binary protocol: its stream, and the state machine that tracks notifications in doubt.
///
/// Owned by its gateway, on the reactor.
final class BinarySession: GatewaySession {
    /// How a session ended.
    enum End {
        /// The gateway answered.
        case reply(ErrorReply)
        /// The stream ended or failed without an answer.
        case lost(GatewayFault)
        /// The peer refused our certificate, even if late.
        case refused(GatewayFault)
        /// We closed it, with nothing in doubt.
        case closed
    }

    /// No more frames are encoded while more ciphertext than this waits for the kernel.
    private static let pendingLimit = 256 * 1024
    /// The plaintext size of a full TLS record.
    private static let recordByteCount = 16_384
    /// How long an error reply may take to arrive after a failed write.
    private static let farewell = Duration.seconds(1)

    let slot: Slot
    let generation: Int
    let opened = Moment(nanoseconds: BootClock.nanoseconds())
    private let stream: SecureStream
    private let options: BinaryWire.Configuration
    private var pipeline: PipelineMachine
    private var sheet = FrameSheet(byteLimit: BinarySession.recordByteCount)
    private var received: [UInt8] = []
    private(set) var hasAcceptance = false
    private var lastWrite: Moment
    /// `settle` returns nothing before this time.
    private var nextSettling: Moment
    /// When `read` last began. Whatever had arrived by then has been read.
    private var lookedAt: Moment
    var countedDoubt = 0
    private var writeFailure: (fault: GatewayFault, deadline: Moment)?

    init(_ stream: SecureStream, _ configuration: BinaryWire.Configuration, for place: (slot: Slot, generation: Int)) {
        self.stream = stream
        self.options = configuration
        (slot, generation) = place
        self.pipeline = PipelineMachine(options: configuration.pipelineOptions)
        self.lastWrite = opened
        self.nextSettling = opened
        self.lookedAt = opened
    }

    /// The number of notifications in doubt.
    var doubtCount: Int { pipeline.doubtCount }

    /// The number of notifications it has room for now, if `inherited` others take a part of its window.
    func room(besides inherited: Int = 0) -> Int {
        writeFailure == nil && stream.pendingByteCount < Self.pendingLimit ? max(0, pipeline.room - inherited) : 0
    }

    /// Whether its window is full.
    var isExhausted: Bool { room() == 0 }

    func wake() { stream.wake() }

    /// Encrypts as much of the batch as there is room for.
    func write(_ batch: inout Batch) throws {
        while !batch.isEmpty, room() > 0 {
            pipeline.write(&batch, on: &sheet)
            try sheet.withFrames(stream.write)
            pipeline.mark(offset: UInt64(stream.encryptedByteCount))
        }
        lastWrite = .now
    }

    /// Reads all available bytes. Returns how the session ended, or `nil` if it is still open.
    func read() -> End? {
        lookedAt = .now
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

    /// Passes ciphertext to the kernel. `read` reports a failure later, since an error reply may still be waiting.
    func flush() {
        guard writeFailure == nil else { return }
        do {
            _ = try stream.flush()
        } catch {
            writeFailure = (GatewayFault("writing failed: \(error)"), .now + Self.farewell)
        }
    }

    /// Returns the notifications that silence has proved accepted. Checks only periodically, so that a busy connection
    /// reports outcomes in large groups.
    func settle() -> [Settlement] {
        guard Moment.now >= nextSettling else { return [] }
        nextSettling = .now + acknowledgementPause
        pipeline.acknowledge(UInt64(stream.acknowledgedByteCount), at: .now)
        // The process may have been suspended since: an answer that came meanwhile was not read.
        return accept(pipeline.settle(at: lookedAt))
    }

    /// Writes the flush probe if only the probe proves acceptance and there is nothing else to do.
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

    /// Whether the flush probe has been unanswered for longer than `answerTimeout`.
    var hasUnansweredProbe: Bool {
        pipeline.isProbing && Moment.now >= lastWrite + options.timeouts.answer
    }

    /// Whether it has reached `maxAge`.
    var isOld: Bool { options.maxAge.map { opened + $0 <= .now } ?? false }

    /// Whether nothing is in doubt and nothing has been written for `idleLimit`.
    var isIdle: Bool {
        doubtCount == 0 && Moment.now >= lastWrite + options.timeouts.idle
    }

    /// Waits until the stream is readable, the next check is due, or a deadline passes. While ciphertext is pending, also
    /// waits for room in the kernel, unless the ciphertext is held back until the permit's deadline.
    func wait(
        until deadlines: [ContinuousClock.Instant?], orFor permit: ContinuousClock.Instant?
    ) async -> Readiness {
        let look = nextLook.instant
        let next = ([look, permit] + deadlines).compactMap(\.self).min()
        return await stream.wait(for: .readable, until: next, holdsBack: permit != nil)
    }

    /// Shuts the connection down cleanly. Returns a late reply if one arrives: it overrides what silence had proved.
    func close() async -> End {
        let farewell = await stream.shutdown(until: .now + Self.farewell)
        guard let reply = try? pipeline.receive(farewell.late) else { return .closed }
        return .reply(reply)
    }

    /// Cuts the connection.
    func abort() { stream.abort() }

    /// Returns the conclusions about the notifications in doubt. `isProven` says that these credentials ever had an
    /// acceptance. They may be sent again, so the kernel must not go on to deliver them.
    func conclude(_ end: End, isProven: Bool) -> DoubtResolution {
        if doubtCount > 0 { abort() }
        var resolution =
            switch end {
            case .reply(let reply): pipeline.end(.reply(reply))
            case .refused: pipeline.end(.refused)
            // Without identifiers, a close may also be the answer to one bad notification, which is then searched for.
            case .lost where isFresh && !isProven && options.format.carriesIdentifier: pipeline.end(.refused)
            case .lost, .closed: pipeline.end(.silent(handedOver: UInt64(stream.handedOverByteCount)))
            }
        resolution.settlements = accept(resolution.settlements)
        return resolution
    }

    /// Whether nothing was accepted and the handshake was less than a second ago. Then an end means that the gateway
    /// rejects this client, and everything written counts as not sent. With command 0 this is always `false`, because
    /// closing is the gateway's only way to refuse anything.
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

    /// The kernel does not signal TCP acknowledgements, so the session polls for them while they matter.
    private var nextLook: Moment {
        let now = Moment.now
        var next = min(lastWrite + options.timeouts.idle, now + .seconds(30))
        if let maxAge = options.maxAge, !isOld { next = min(next, opened + maxAge) }
        if doubtCount == 0 { return max(next, now + .milliseconds(1)) }
        if pipeline.isAwaitingAcknowledgement { next = min(next, now + acknowledgementPause) }
        if let settlement = pipeline.nextSettlement { next = min(next, max(settlement, nextSettling)) }
        if options.confirmation == .probe {
            next = min(next, lastWrite + (pipeline.isProbing ? options.timeouts.answer : .milliseconds(50)))
        }
        if let deadline = writeFailure?.deadline { next = min(next, deadline) }
        return max(next, now + .milliseconds(1))
    }

    private var acknowledgementPause: Duration {
        guard case .silence(let duration) = options.confirmation else { return .milliseconds(250) }
        return min(.milliseconds(250), max(.milliseconds(5), duration / 20))
    }
}
