import APNSHTTP2
import APNSModel
import HTTP2
import JSON
import LinuxIO
import NGHTTP2
import OpenSSL
import SecureTransport

/// One connection over HTTP/2: its stream, and the machine that knows what is on it.
///
/// Belongs to its gateway, on the reactor.
final class HTTP2Session: GatewaySession {
    /// How a session came to its end.
    enum End {
        /// The gateway closed it, or it broke.
        case lost(GatewayFault)
        /// The peer refused our certificate, however late it said so.
        case refused(GatewayFault)
        /// We closed it, with nothing on it.
        case closed
    }

    /// As much ciphertext as may wait for the kernel before no more requests are made.
    private static let pendingLimit = 256 * 1024
    /// How long closing may take.
    private static let farewell = Duration.seconds(1)

    let generation: Int
    /// The slot that it was opened in.
    var slot = 0
    /// Keeps its descriptors counted until it is closed.
    var lease: DescriptorLease?
    /// The token that its requests carry.
    private(set) var token: ProviderToken?
    private let stream: SecureStream
    private var machine: SessionMachine
    private var readers: SessionMachine.Readers<Parser>
    private var received: [UInt8] = []
    private var output: [UInt8] = []
    private var writeFailure: GatewayFault?
    /// Whether the gateway has taken anything on it.
    private(set) var hasAcceptance = false
    /// Whether there is a goodbye to be said that no requests wait before.
    private var hasLastWord = false
    /// How the gateway has announced its end, if it has.
    private var goodbye: SessionNews.Farewell?
    var countedDoubt = 0
    /// When it is to be replaced for its age.
    private let retiresAt: Moment?
    /// What has become of notifications that no report has told yet.
    private var untold = Losses()

    init(
        _ stream: SecureStream, _ configuration: HTTP2Gateway.Configuration, _ token: ProviderToken?, generation: Int
    ) throws {
        self.stream = stream
        self.generation = generation
        self.token = token
        retiresAt = configuration.maxAge.map { .now + $0 }
        var options = SessionMachine.Options(
            sender: RequestFields.Sender(
                authority: configuration.endpoint.authority, app: configuration.defaultTopic,
                authorization: token?.authorization))
        options.streamLimit = configuration.window
        options.readyTimeout = configuration.connectTimeout
        options.answerTimeout = configuration.answerTimeout
        options.idlePing = configuration.idlePing
        self.machine = SessionMachine(options, at: .now)
        self.readers = SessionMachine.Readers(
            decoder: HeaderDecoder(listLimit: Limits().headerListByteCount), parser: Parser())
        machine.start(into: &output)
        try encryptOutput()
    }

    /// How many notifications have no answer.
    var doubtCount: Int { machine.doubtCount }

    /// Whether the gateway has said what it takes.
    var isReady: Bool { machine.isReady }

    /// Whether all requests are in flight that the gateway allows.
    var isExhausted: Bool { machine.isExhausted }

    /// Whether it takes no more requests.
    var isRetired: Bool { machine.isRetired || writeFailure != nil }

    /// How many notifications it takes now.
    var room: Int {
        writeFailure == nil && stream.pendingByteCount < Self.pendingLimit ? machine.room : 0
    }

    /// Whether it is as old as connections may become.
    var isOld: Bool { retiresAt.map { $0 <= .now } ?? false }

    /// Whether an answer has stayed away for too long.
    var isOverdue: Bool { machine.isOverdue }

    /// Whether the gateway has announced its end, and has answered everything.
    var isFinished: Bool { goodbye != nil && doubtCount == 0 }

    /// Whether it came to its end for everyday reasons: the gateway wants another connection, and found no fault with this.
    var isEndedWell: Bool { !isOverdue && goodbye.map { $0.code == .noError } ?? true }

    /// Why it takes no more requests.
    var retirement: GatewayFault {
        if machine.isOverdue { return GatewayFault("answer overdue") }
        if goodbye == nil, isOld { return GatewayFault("it has reached max_age") }
        return fault("the gateway wants a new connection")
    }

    /// A fault in words, and how the gateway announced it.
    private func fault(_ message: String) -> GatewayFault {
        GatewayFault(goodbye.map { "\(message): \($0)" } ?? message)
    }

    func wake() { stream.wake() }

    /// Takes no more requests.
    func retire() { machine.retire() }

    /// Uses another provider token from the next request on.
    func authorize(_ token: ProviderToken) {
        guard token != self.token else { return }
        self.token = token
        machine.authorize(token.authorization)
    }

    /// Encrypts as much of the batch as fits.
    func write(_ batch: inout Batch) throws {
        while !batch.isEmpty, room > 0 {
            try machine.write(&batch, at: .now, stream.write)
            mark()
        }
    }

    /// Reads what there is, and tells what it says. Returns how the session ended, or `nil` while it goes on.
    func read(_ tell: (SessionNews) -> Void) -> End? {
        do {
            while true {
                received.removeAll(keepingCapacity: true)
                switch try stream.read(into: &received) {
                case .bytes:
                    let news = machine.receive(received.span, at: .now, with: &readers, output: &output)
                    hasAcceptance = hasAcceptance || !news.accepted.isEmpty
                    tell(news)
                    try encryptOutput()
                    if let fault = news.fault {
                        hasLastWord = machine.hasNothingUnsent
                        return .lost(GatewayFault("the gateway broke the protocol: \(fault.message) (\(fault.code))"))
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

    /// Looks what is overdue, and writes what waits besides requests.
    func tick(_ tell: (SessionNews) -> Void) -> End? {
        let now = Moment.now
        machine.look(at: now)
        if machine.isDead(at: now) {
            return .lost(
                GatewayFault(machine.isReady ? "the gateway does not answer a PING" : "the gateway sent no SETTINGS"))
        }
        let news = machine.tick(at: now, handedOver: stream.handedOverByteCount, output: &output)
        if !news.isEmpty { tell(news) }
        if machine.isStuck { return .lost(retirement) }
        machine.pump(into: &output)
        do {
            try encryptOutput()
        } catch {
            return end(of: error)
        }
        return nil
    }

    /// Hands ciphertext to the kernel. A failure is kept, since answers may be waiting to be read.
    func flush() {
        guard writeFailure == nil else { return }
        do {
            _ = try stream.flush()
        } catch {
            writeFailure = GatewayFault("writing failed: \(error)")
        }
    }

    /// Waits for the stream, or until something must be looked at again, at `deadline` at the latest.
    func wait(until deadline: ContinuousClock.Instant?) async -> Readiness {
        var look = max(machine.nextLook, .now + .milliseconds(1))
        if let retiresAt, !isOld { look = min(look, retiresAt) }
        return await stream.wait(for: .readable, until: min(look.instant, deadline ?? look.instant))
    }

    /// Closes in good order.
    func close() async {
        machine.close(into: &output)
        do {
            try encryptOutput()
        } catch {
            return abort()
        }
        _ = await stream.shutdown(until: .now + Self.farewell)
    }

    /// Says why to a gateway that broke the protocol, unless requests wait before that: they would only be in doubt then.
    func part() async {
        if hasLastWord { _ = await stream.shutdown(until: .now + Self.farewell) }
    }

    /// Cuts the connection.
    func abort() { stream.abort() }

    /// What the end leaves.
    func conclude() -> SessionNews { machine.end(handedOver: stream.handedOverByteCount) }

    /// Hands over how long answers took since the last call.
    func handOverAnswerTimes(to meter: GatewayMeter) {
        if machine.answerTimes.count > 0 { meter.take(&machine.answerTimes) }
    }

    /// Notes what news mean for the next report.
    func note(_ news: SessionNews) {
        goodbye = news.farewell ?? goodbye
        untold.resentCount += news.returnedCount
        untold.doubtfulCount += news.doubtfulCount(.resend)
        untold.unknownCount += news.doubtfulCount(.report)
    }

    /// Reports what has become of its notifications since it was asked last.
    func report(_ fault: GatewayFault) -> ConnectionReport {
        var report = ConnectionReport(fault)
        report.resentCount = untold.resentCount
        report.doubtfulCount = untold.doubtfulCount
        report.unknownCount = untold.unknownCount
        untold = Losses()
        return report
    }

    /// How many notifications a connection has not brought to an answer.
    private struct Losses {
        var resentCount = 0
        var doubtfulCount = 0
        var unknownCount = 0
    }

    private func encryptOutput() throws(TLSError) {
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
