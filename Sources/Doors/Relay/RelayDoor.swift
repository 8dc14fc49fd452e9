import APNSHTTP2
import APNSModel
import APNSServing
import Configuration
import Document
import DoorModel
import JSON
import JobFormat
import JobOperations
import LinuxIO
import Logging
import OpenSSL
import PushModel
import SecureTransport
import ServiceProcess
import SpoolModel

/// The APNs relay: takes requests as Apple's gateway does, and answers each once its job is safe in the spool.
///
/// It runs on one reactor. Files are the writer's.
actor RelayDoor: Door {
    nonisolated var name: String { "apns" }
    nonisolated let reactor: Reactor
    let writer: SpoolWriter
    let rates: ProducerRates
    private let feedback: FeedbackWatch?
    private let logger: Logger
    private var admission: Admission
    private var listener: Listener?
    var intake: RelayIntake<JSON.Parser>
    var unanswered: UnansweredRequests
    private var places = RelayPlaces()
    var isStopping = false
    let waitsForGateway: Bool
    let groupWakeup: Wakeup
    let idleWakeup: Wakeup
    private let appsWakeup: Wakeup
    let feedbackWakeup: Wakeup
    private var nextLook = Moment.zero
    /// What it has done. The connections count in it, too.
    var counts = DoorCounts()

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// Where clients connect, who may, and how many.
    private struct Admission {
        let address: SocketAddress
        let context: TLSContext
        /// The places of producers, by the fingerprints of the public keys of their certificates.
        let certificateProducers: [[UInt8]: Int]
        let connectionLimit: Int
    }

    /// The requests that may wait for their jobs, and their bytes. More are not read from their connections.
    private static let (pendingLimit, pendingByteLimit) = (1 << 15, 32 << 20)
    /// The time that a client may take for its handshake.
    private static let handshakeTime = Duration.seconds(10)
    /// How often the lists of apps are read again.
    private static let lookPause = Duration.seconds(30)

    /// Creates a relay that listens nowhere yet.
    ///
    /// - Parameters:
    ///   - set: The configuration, without errors.
    ///   - rules: Its relay, and the TLS context for it.
    ///   - known: The ids that were spooled lately.
    ///   - means: The reactor, the writer, the producers' rates, the reader of feedback if it is needed, and the logger.
    init(
        _ set: DoorSet, _ rules: (relay: DoorConfiguration.Relay, context: TLSContext),
        known: [(key: RecentIDs.Key, time: WallTime)],
        with means: (
            reactor: Reactor, writer: SpoolWriter, rates: ProducerRates, feedback: FeedbackWatch?, logger: Logger
        )
    ) {
        let configuration = set.configuration
        (reactor, writer, rates, feedback, logger) = means
        admission = Admission(
            address: rules.relay.address, context: rules.context, certificateProducers: set.certificateProducers,
            connectionLimit: configuration.connectionLimit)
        var recent = RecentIDs(lifetime: rules.relay.dedupe)
        for (key, time) in known {
            if time == RecentIDs.Key.forgotten { recent.forget(key) } else { recent.insert(key, at: time) }
        }
        waitsForGateway = rules.relay.answer == .gateway
        intake = RelayIntake(
            parser: JSON.Parser(), (recent, KnownGone(lifetime: rules.relay.gone)), idBase: .random(),
            recordsAll: waitsForGateway)
        _ = intake.admit(configuration.producers.map(\.producer), producerBehind: set.tokenCheck)
        unanswered = UnansweredRequests(
            RequestGroups(limit: configuration.groupLimit, every: configuration.groupPause),
            wait: waitsForGateway ? rules.relay.wait : nil)
        (groupWakeup, idleWakeup) = (Wakeup(on: reactor), Wakeup(on: reactor))
        (appsWakeup, feedbackWakeup) = (Wakeup(on: reactor), Wakeup(on: reactor))
    }

    // MARK: Configuration

    /// Applies a configuration: who may come in, and how much.
    ///
    /// Clients that are connected must connect again, since they may be others' now.
    func configure(_ set: DoorSet) async {
        let producers = intake.admit(
            set.configuration.producers.map(\.producer), producerBehind: set.tokenCheck)
        admission = Admission(
            address: admission.address, context: set.relayContext ?? admission.context,
            certificateProducers: set.certificateProducers.compactMapValues { producers[$0] },
            connectionLimit: set.configuration.connectionLimit)
        for connection in places.connections.values { connection.beginLeaving() }
        await lookForApps()
    }

    // MARK: Running

    func listen() throws {
        let listener = try Listener(on: admission.address, reactor: reactor)
        self.listener = listener
        logger.notice("relay listens", metadata: [LogKey.path: "\(listener.address)"])
    }

    func run() async {
        await lookForApps()
        await withDiscardingTaskGroup { group in
            group.addTask { await self.runGroups() }
            group.addTask { await self.runApps() }
            if let feedback { group.addTask { await self.run(feedback) } }
            if let feedback, waitsForGateway { group.addTask { await self.hearEarly(feedback) } }
            while !Task.isCancelled {
                guard let socket = await nextConnection() else { continue }
                group.addTask { await self.attend(socket) }
            }
        }
    }

    /// Waits for a connection. Returns `nil` to be called again, and once the port is closed.
    private func nextConnection() async -> sending StreamSocket? {
        do {
            guard let listener else {
                await Wakeup.waitForCancellation(on: reactor)
                return nil
            }
            return try await listener.accept { error in
                logger.warning("cannot accept connections for now", metadata: [LogKey.error: "\(error)"])
            }
        } catch is CancellationError {
            return nil
        } catch {
            let hint: Logger.MetadataValue = "restart the doors"
            logger.error(
                "relay accepts no more connections", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
            self.listener = nil
            return nil
        }
    }

    private func attend(_ socket: sending StreamSocket) async {
        guard !isStopping, let number = places.admit(within: admission.connectionLimit, &counts) else {
            counts.refusedConnectionCount += 1
            return socket.abort()
        }
        counts.connectionCount += 1
        do {
            try socket.setNoDelay()
            let stream = try SecureStream(accepting: socket, context: admission.context)
            places.seat(stream, number)
            try await stream.handshake(until: .now + Self.handshakeTime)
            let fingerprint = stream.facts.peerCertificate?.publicKeyFingerprint
            let connection = RelayConnection(
                number: number, over: stream,
                certificateProducer: fingerprint.flatMap { admission.certificateProducers[$0] })
            places.connections[number] = connection
            if isStopping { connection.beginLeaving() }
            try await connection.run(in: self)
        } catch {
            logger.debug("connection failed", metadata: [LogKey.error: "\(error)"])
        }
        places.leave(number)
        if places.connections.isEmpty { idleWakeup.signal() }
    }

    // MARK: Requests

    /// Whether so many requests wait for their jobs that no more are read.
    var isFull: Bool {
        unanswered.unspooledCount >= Self.pendingLimit || unanswered.byteCount >= Self.pendingByteLimit
    }

    /// Decides about a request of a connection.
    func decide(
        on reading: RequestReading, body: ArraySlice<UInt8>, from client: inout RelayClient
    ) -> (decision: RelayIntake<JSON.Parser>.Decision, id: NotificationID) {
        var result = intake.decide(on: reading, body: body, from: &client, at: (.now, .now))
        if case .spool(let spooled) = result.decision, rates.admit(spooled.producer, at: .now) != nil {
            if let key = spooled.key { intake.settle(key, isSpooled: false, at: .now) }
            result.decision = .answer(RelayAnswer(.tooManyRequests))
        }
        guard case .answer(let answer) = result.decision else { return result }
        if answer.isAcceptance {
            counts.repeatedCount += 1
        } else {
            note(answer)
        }
        return result
    }

    /// Adds a request to the next job of its app.
    func spool(_ spooled: RelayIntake<JSON.Parser>.Spooled, for request: RelayRequest) {
        let name = AwaitedAnswers.Name(app: spooled.app, id: request.notification, to: spooled.receiver)
        let pending = UnansweredRequests.Pending(request, as: name)
        if spooled.isLine {
            let isEarlier = unanswered.add(pending, line: spooled.bytes, to: spooled.app, at: .now)
            if isEarlier { groupWakeup.signal() }
        } else {
            unanswered.add(pending, document: spooled.bytes, to: spooled.app, at: .now)
            groupWakeup.signal()
        }
    }

    /// Answers a request like the one with the same id that is being spooled.
    func follow(_ key: RecentIDs.Key, for request: RelayRequest) {
        counts.repeatedCount += 1
        unanswered.follow(key, with: request)
    }

    /// Counts a refusal. A topic that no app has may be that of a new app, and the apps may be unknown so far.
    private func note(_ answer: RelayAnswer) {
        counts.refusals[answer.reason, default: 0] += 1
        let isAboutApps = [Reason.topicDisallowed, .topicMismatch, .serviceUnavailable].contains {
            answer.reason == $0.rawValue
        }
        if isAboutApps, Moment.now >= nextLook { appsWakeup.signal() }
    }

    // MARK: Answers

    /// The answer to a request whose job was dropped.
    var dropAnswer: RelayAnswer { waitsForGateway ? .spooled : .accepted }

    /// Answers requests.
    func send(_ answer: RelayAnswer, to requests: [RelayRequest]) {
        var touched: Set<Int> = []
        if answer.isAcceptance { counts.acceptedCount += requests.count }
        for request in requests {
            if !answer.isAcceptance { note(answer) }
            guard let connection = places.connections[request.connection] else { continue }
            connection.conclude(request, answer)
            touched.insert(request.connection)
        }
        for number in touched { places.connections[number]?.wake() }
    }

    // MARK: Feedback

    /// How often feedback is read while answers wait for it, and otherwise.
    private static let (busyPause, quietPause) = (Duration.milliseconds(50), Duration.seconds(5))

    /// Reads feedback until the task is cancelled.
    private func run(_ feedback: FeedbackWatch) async {
        while !Task.isCancelled {
            let heard = await feedback.read()
            for (app, outcome) in heard.lines {
                if outcome.isGone {
                    intake.gone.note(outcome.receiver, of: app, since: outcome.goneSince, at: .now)
                }
                note(outcome, of: app)
            }
            await answerHeard()
            send(.spooled, to: unanswered.takeLate(at: .now))
            let pause = heard.hasMore ? .zero : unanswered.isAwaiting ? Self.busyPause : Self.quietPause
            await feedbackWakeup.wait(until: (Moment.now + pause).instant)
        }
    }

    /// Answers requests as soon as daemons tell how their notifications have ended, until the task is cancelled or the kernel
    /// cannot report it. The rest waits for published feedback.
    private func hearEarly(_ feedback: FeedbackWatch) async {
        while let heard = await feedback.hearEarly() {
            for (app, outcome) in heard { note(outcome, of: app) }
            await answerHeard()
        }
    }

    /// Answers the requests whose notifications have ended.
    func answerHeard() async {
        let answered = unanswered.takeHeard()
        for (_, answer, requests) in answered where !answer.mayComeAgain { send(answer, to: requests) }
        await release(answered.filter { $0.answer.mayComeAgain })
    }

    private func note(_ outcome: HeardOutcome, of app: String) {
        if outcome.isJobEnd { unanswered.record(outcome.answer, aboutAllOf: .init(app: app, file: outcome.job)) }
        guard let id = outcome.id else { return }
        unanswered.record(outcome.answer, about: .init(app: app, id: id, to: outcome.receiver), in: outcome.job)
    }

    /// Answers requests that their clients may send again, to any door. Before that, no log may say that they were sent.
    private func release(_ refused: [AwaitedAnswers.Heard]) async {
        for (app, group) in Dictionary(grouping: refused, by: \.app) {
            let keys = group.flatMap { $0.requests.compactMap(\.key) }
            for key in keys { intake.forget(key) }
            if !keys.isEmpty { await writer.forget(keys, of: app) }
        }
        for refusal in refused { send(refusal.answer, to: refusal.requests) }
    }

    // MARK: Apps

    /// Reads the lists of apps now and then, and when a topic is unknown, until the task is cancelled.
    private func runApps() async {
        while !Task.isCancelled {
            await appsWakeup.wait(until: (Moment.now + Self.lookPause).instant)
            await lookForApps()
        }
    }

    /// Reads which apps there are.
    private func lookForApps() async {
        let found = await writer.router()
        nextLook = .now + .seconds(1)
        guard let router = found else { return }
        intake.setApps(router, contexts: router.apps.map { JobContext(checkingFor: $0, router.limits) })
    }

    // MARK: Metrics

    var figures: DoorCounts {
        var now = counts
        now.openConnectionCount = places.connections.count
        now.waitingCount = unanswered.unspooledCount
        return now
    }

    // MARK: The end

    /// Tells the clients of open connections to go elsewhere.
    func beginStopping() {
        isStopping = true
        listener?.waiter.wake()
        listener = nil
        send(.spooled, to: unanswered.stopWaiting())
        for connection in places.connections.values { connection.beginLeaving() }
        idleWakeup.signal()
    }

    func awaitIdle(until deadline: ContinuousClock.Instant) async {
        while !places.connections.isEmpty || unanswered.unspooledCount > 0, .now < deadline, !Task.isCancelled {
            await idleWakeup.wait(until: min(deadline, .now + .seconds(1)))
        }
    }
}
