import APNSHTTP2
import HTTP2
import JSON
import LinuxIO
import Logging
import NGHTTP2
import OpenSSL
import PushHTTP2
import PushModel
import SecureTransport
import ServiceProcess

/// One HTTP/2 connection: its stream, and the state machine that tracks the requests on it.
///
/// Owned by its gateway, on the reactor.
final class HTTP2Session: GatewaySession {
    /// No more requests are encoded while more ciphertext than this waits for the kernel.
    private static let pendingLimit = 256 * 1024
    /// How long closing may take.
    private static let farewell = Duration.seconds(1)

    let generation: Int
    /// The slot that opened it.
    let slot: Slot
    /// The notifications that it takes.
    var route: Route { slot.route }
    /// Accounts for its descriptors until it is closed.
    var lease: DescriptorLease?
    /// The token that its requests carry.
    private(set) var token: BearerToken?
    /// What its answers are judged by.
    let origin: RequestQueue.Origin
    private let stream: SecureStream
    private var machine: SessionMachine
    private var readers: SessionReaders<Parser>
    private var received: [UInt8] = []
    private var output: [UInt8] = []
    /// The requests that are not encrypted yet.
    private var record = SharedRecord()
    private var writeFailure: GatewayFault?
    /// Whether the last read found anything.
    private var hasRead = false
    /// The number of notifications that the gateway has accepted on it.
    private(set) var acceptedCount = 0
    /// Whether a GOAWAY is to be sent that has no unsent requests ahead of it.
    private var hasLastWord = false
    /// The gateway's GOAWAY, if there was one.
    private var goodbye: SessionNews.GoAwayInfo?
    var countedDoubt = 0
    /// When it is replaced because of its age.
    private let retiresAt: Moment?
    /// The losses not yet in a report.
    private var untold = UnansweredCounts()

    init(
        _ stream: SecureStream, _ configuration: HTTP2Wire.Configuration, _ token: BearerToken?,
        for place: (slot: Slot, generation: Int)
    ) throws {
        self.stream = stream
        (slot, generation) = place
        self.token = token
        origin = RequestQueue.Origin(
            openedWithToken: token.map { _ in .now }, defaultTopic: configuration.defaultTopic)
        retiresAt = configuration.maxAge.map { .now + $0 }
        var options = SessionOptions(
            configuration.service.dialect(
                authority: configuration.endpoint.authority, authorization: token?.authorization))
        options.streamLimit = configuration.window
        if case .apns(let apns) = configuration.service { options.spoolMark = apns.spoolMark }
        options.timeouts.gateway = configuration.timeouts
        self.machine = SessionMachine(options, at: .now)
        self.readers = SessionReaders(
            decoder: HeaderDecoder(listLimit: Limits().headerListByteCount), parser: Parser())
        machine.start(into: &output)
        try encryptOutput()
    }

    /// The number of unanswered notifications.
    var doubtCount: Int { machine.doubtCount }

    /// Whether the gateway has sent its SETTINGS.
    var isReady: Bool { machine.isReady }

    /// Whether the requests in flight have reached the gateway's limit.
    var isExhausted: Bool { machine.isExhausted }

    /// Whether it takes no more requests.
    var isRetired: Bool { machine.isRetired || writeFailure != nil }

    /// The number of notifications it has room for now, if `inherited` others take a part of its window.
    func room(besides inherited: Int = 0) -> Int {
        writeFailure == nil && stream.pendingByteCount < Self.pendingLimit ? machine.room(besides: inherited) : 0
    }

    /// Whether it has reached `maxAge`.
    var isOld: Bool { retiresAt.map { $0 <= .now } ?? false }

    /// Whether it was given up because it was idle.
    var isIdle: Bool { machine.isIdle }

    /// Whether an answer is overdue.
    var isOverdue: Bool { machine.isOverdue }

    /// Whether the server has only reported failures of its own lately.
    var isFailing: Bool { machine.isFailing }

    /// The first of these reasons; `nil` if there is none.
    private(set) var retirementReason: Retirement?

    /// Whether the gateway has sent a GOAWAY and has answered everything.
    var isFinished: Bool { goodbye != nil && doubtCount == 0 }

    /// Whether it ended routinely: the server answers and does not fail, and a GOAWAY, if any, reported no error.
    var isEndedWell: Bool { !isOverdue && retirementReason != .failing && goodbye.map { $0.code == .noError } ?? true }

    /// Why it takes no more requests.
    var retirement: GatewayFault {
        if machine.isOverdue { return GatewayFault("answer overdue") }
        if let retirementReason, goodbye == nil || retirementReason == .failing {
            return GatewayFault(retirementReason.message)
        }
        if goodbye == nil, isOld { return GatewayFault("the connection has reached max_age") }
        if goodbye == nil, isIdle { return GatewayFault("the connection was idle") }
        return fault("the gateway asked for a new connection")
    }

    /// Creates a fault from a message and the gateway's GOAWAY, if there was one.
    private func fault(_ message: String) -> GatewayFault {
        GatewayFault(goodbye.map { "\(message): \($0)" } ?? message)
    }

    func wake() { stream.wake() }

    /// Takes no more requests, for this reason if there is one.
    func retire(_ reason: Retirement? = nil) {
        retirementReason = retirementReason ?? reason
        machine.retire()
    }

    /// Replaces the token if it is too old.
    func refreshToken(from source: any TokenSource, _ logger: Logger) async {
        if let token = source.token(at: .now) { return authorize(token, whateverIsInDoubt: !source.isRemote) }
        // Whoever waits here reads no answers.
        guard !source.isRemote else { return retire(.oldToken) }
        do {
            authorize(try await source.current(at: .now), whateverIsInDoubt: true)
        } catch {
            // The old token is valid for some more minutes, and the gateway reports when it no longer is.
            logger.warning("cannot renew the token", metadata: ["error": "\(error)"])
        }
    }

    /// Uses another token from the next request on, or takes no more requests if the last one is too new here.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - whateverIsInDoubt: Whether to use it although requests with the last one are in flight. Their refusals would be
    ///     taken for refusals of this one.
    private func authorize(_ token: BearerToken, whateverIsInDoubt: Bool) {
        guard token != self.token, !isRetired else { return }
        guard whateverIsInDoubt || doubtCount == 0 else { return retire(.oldToken) }
        guard machine.authorize(token.authorization, at: .now) else { return retire(.oldToken) }
        self.token = token
    }

    /// Moves as much of the batch to the connection as there is room for. Call `encryptRequests` after the last batch.
    func write(_ batch: inout Batch) throws {
        while !batch.isEmpty, room() > 0 {
            let end = machine.requestEnd
            try machine.write(&batch, at: Instant(.now, .now)) { try record.add($0, to: stream) }
            if let offset = record.takeEarlierEnd() {
                machine.mark(end: end, offset: offset, handedOver: stream.handedOverByteCount)
            }
            if record.isEmpty { mark() }
        }
    }

    /// Encrypts what `write` has moved to the connection.
    func encryptRequests() throws(TLSError) {
        if try record.encrypt(on: stream) { mark() }
    }

    /// Reads all available bytes, and passes their news to `apply`. Returns how the session ended, or `nil` if it is
    /// still open.
    func read(_ apply: (SessionNews) -> Void) -> End? {
        hasRead = false
        do {
            while true {
                received.removeAll(keepingCapacity: true)
                switch try stream.read(into: &received) {
                case .bytes:
                    hasRead = true
                    let news = machine.receive(received.span, at: .now, with: &readers, output: &output)
                    acceptedCount += news.accepted.notificationCount
                    apply(news)
                    try encryptOutput()
                    if let fault = news.fault {
                        hasLastWord = machine.hasNothingUnsent
                        return .lost(
                            GatewayFault("the gateway violated the protocol: \(fault.message) (\(fault.code))"))
                    }
                case .wouldBlock:
                    return nil
                case .closed:
                    return .lost(writeFailure ?? fault("the gateway closed the connection"))
                }
            }
        } catch {
            return end(of: error)
        }
    }

    /// Checks for overdue answers, and writes pending frames other than requests.
    func tick(_ apply: (SessionNews) -> Void) -> End? {
        let now = Moment.now
        machine.look(at: now)
        if machine.isDead(at: now) {
            return .lost(
                GatewayFault(machine.isReady ? "the gateway does not answer a PING" : "the gateway sent no SETTINGS"))
        }
        let news = machine.tick(
            at: now, handedOver: stream.handedOverByteCount, acknowledged: stream.acknowledgedByteCount,
            output: &output)
        if !news.isEmpty { apply(news) }
        if machine.isStuck {
            abort()
            return .lost(retirement)
        }
        machine.pump(into: &output)
        do {
            try encryptOutput()
        } catch {
            return end(of: error)
        }
        return nil
    }

    /// Passes ciphertext to the kernel. A failure is reported later, since answers may still be waiting to be read.
    func flush() {
        guard writeFailure == nil else { return }
        do {
            _ = try stream.flush()
        } catch {
            writeFailure = GatewayFault("writing failed: \(error)")
        }
    }

    /// Waits until the stream is readable, the next check is due, or a deadline passes. While ciphertext is pending, also
    /// waits for room in the kernel, unless the ciphertext is held back until the permit's deadline.
    func wait(
        until deadlines: [ContinuousClock.Instant?], orFor permit: ContinuousClock.Instant?
    ) async -> Readiness {
        var look = max(machine.nextLook, .now + .milliseconds(1))
        if let retiresAt, !isOld { look = min(look, retiresAt) }
        var end = ([look.instant, permit] + deadlines).compactMap(\.self).min()
        var least = 1
        // More answers are on their way if some have just come.
        if hasRead, stream.pendingByteCount == 0, let more = machine.gathering(after: stream.arrivedByteCount) {
            let pause = ContinuousClock.now + more.time
            (least, end) = (more.byteCount, end.map { min($0, pause) } ?? pause)
        }
        return await stream.wait(for: .readable, atLeast: least, until: end, holdsBack: permit != nil)
    }

    /// Sends a GOAWAY and shuts the connection down cleanly.
    func close() async {
        machine.close(into: &output)
        do {
            try encryptOutput()
        } catch {
            return abort()
        }
        _ = await stream.shutdown(until: .now + Self.farewell)
    }

    /// Sends the GOAWAY that reports a protocol error, unless unsent requests precede it: sending them would only put
    /// them in doubt.
    func part() async {
        if hasLastWord { _ = await stream.shutdown(until: .now + Self.farewell) }
    }

    /// Cuts the connection.
    func abort() { stream.abort() }

    /// Ends it on shutdown: cleanly if nothing is in flight.
    func leave() async -> End {
        guard doubtCount == 0 else {
            abort()
            return .lost(GatewayFault("the daemon is stopping"))
        }
        await close()
        return .closed
    }

    /// Returns the notifications that the end leaves without an answer. Those may be sent again, so the kernel must not go on
    /// to deliver them.
    func conclude() -> SessionNews {
        if doubtCount > 0 { abort() }
        return machine.end(handedOver: stream.handedOverByteCount)
    }

    /// Moves the answer times since the last call to the meter.
    func handOverAnswerTimes(to meter: GatewayMeter) {
        if machine.answerTimes.count > 0 { meter.absorb(&machine.answerTimes) }
    }

    /// Records GOAWAY and losses for the next report.
    func note(_ news: SessionNews) {
        goodbye = news.farewell ?? goodbye
        untold.resentCount += news.returnedCount
        untold.doubtfulCount += news.doubtfulCount(.resend)
        untold.unknownCount += news.doubtfulCount(.report)
    }

    /// Returns a report with the losses since the last one.
    func report(_ fault: GatewayFault) -> ConnectionReport {
        var report = ConnectionReport(fault)
        (report.resentCount, report.doubtfulCount) = (untold.resentCount, untold.doubtfulCount)
        report.unknownCount = untold.unknownCount
        untold = UnansweredCounts()
        return report
    }

    /// The numbers of notifications that a connection left unanswered.
    private struct UnansweredCounts {
        var resentCount = 0
        var doubtfulCount = 0
        var unknownCount = 0
    }

    private func encryptOutput() throws(TLSError) {
        try encryptRequests()
        guard !output.isEmpty else { return }
        let bytes = output
        output.removeAll(keepingCapacity: true)
        try stream.write(bytes.span)
        mark()
    }

    private func mark() {
        machine.mark(offset: stream.encryptedByteCount, handedOver: stream.handedOverByteCount)
    }

    private func end(of error: any Error) -> End {
        if let error = error as? TLSError, error.isOwnCertificateRefused {
            return .refused(GatewayFault(error.message, hint: error.hint))
        }
        return .lost(GatewayFault("the connection failed: \(error)"))
    }
}
