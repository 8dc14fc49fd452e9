import APNSBinary
import APNSModel
import LinuxIO

/// What a gateway of either protocol keeps besides its connections: whether the app is stopped, on trial or draining, who
/// waits, and what its owner is told.
///
/// Belongs to its gateway, on the reactor.
final class GatewayState {
    /// The sleeper that is not a slot.
    static let keeper = -1

    let reactor: Reactor
    private let events: GatewayEvents
    /// Counts configurations: a session of an older one writes nothing more and closes when nothing is in doubt.
    private(set) var generation = 0
    /// When a stopped app may ask again; `nil` while it is not stopped.
    private(set) var stoppedUntil: ContinuousClock.Instant?
    /// Whether it asks again after a stop, one notification at a time.
    private(set) var isOnTrial = false
    var isDraining = false
    /// Whether nothing more is to be sent until somebody says otherwise.
    var isPaused = false
    var random = SystemRandomNumberGenerator()
    private let recordKeeping: RecordKeeping
    /// How many notifications have an outcome that is not recorded for good, told or not.
    private var unrecordedCount = 0
    private var policy: ConnectPolicy
    /// How many notifications a connection may have without an outcome.
    private(set) var pacing: WindowPacing
    private var answers = AnswerHistory()
    /// Outcomes that nobody has been told yet, and until when they may wait for more.
    private var untold: [Settlement] = []
    /// How many notifications these are.
    private(set) var untoldCount = 0
    /// How many notifications pause of which jobs, as far as nobody has been told yet.
    private var untoldPaused: [JobID: Int] = [:]
    private(set) var tellBy: ContinuousClock.Instant?
    private var sleepers: [Int: Waiter] = [:]
    private var submitters: [(waiter: Waiter, lane: Lane)] = []
    /// Keeps the app's rate, if it has one.
    var bucket: TokenBucket?

    init(
        _ events: GatewayEvents, _ pacing: WindowPacing, recordKeeping: RecordKeeping, on reactor: Reactor
    ) {
        self.events = events
        self.recordKeeping = recordKeeping
        self.policy = ConnectPolicy(backOff: pacing.backOff)
        self.pacing = pacing
        self.reactor = reactor
    }

    /// What is counted for whoever wants to know.
    var meter: GatewayMeter { events.meter }

    /// Counts how many more or fewer notifications of a session have no outcome than at the last call.
    func count(_ session: some GatewaySession) {
        let change = session.doubtCount - session.countedDoubt
        guard change != 0 else { return }
        session.countedDoubt += change
        meter.addInFlight(change)
    }

    /// Whether these credentials ever had an acceptance.
    var hasAcceptance: Bool { answers.hasAcceptance }

    /// Whether connections are of use at all now.
    var mayConnect: Bool { stoppedUntil == nil && !isDraining && !isPaused }

    /// Begins anew with another configuration. A stopped app starts again, on trial, which is told: what its owner has
    /// not heard yet of the stop comes before it.
    func reconfigure(_ pacing: WindowPacing) {
        generation += 1
        policy = ConnectPolicy(backOff: pacing.backOff)
        self.pacing = pacing
        answers = AnswerHistory()
        if stoppedUntil != nil || isOnTrial {
            (stoppedUntil, isOnTrial) = (nil, true)
            tell(.trying)
        }
        wakeSleepers()
    }

    /// Waits while the lane `isFull`, as one of those that bring work.
    ///
    /// - Throws: `CancellationError`.
    func waitForRoom(in lane: Lane, while isFull: (Lane) -> Bool) async throws {
        while isFull(lane) {
            let waiter = Waiter(on: reactor)
            submitters.append((waiter, lane))
            let readiness = await waiter.wait()
            submitters.removeAll { $0.waiter === waiter }
            if readiness.contains(.cancelled) { throw CancellationError() }
        }
    }

    /// Lets those that bring work look again whose lane is not full.
    func wakeSubmitters(unless isFull: (Lane) -> Bool) {
        for (waiter, lane) in submitters where !isFull(lane) { waiter.wake() }
    }

    /// Waits until something changes, or until the deadline.
    func sleep(_ sleeper: Int, until deadline: ContinuousClock.Instant?) async {
        let waiter = sleepers[sleeper] ?? Waiter(on: reactor)
        sleepers[sleeper] = waiter
        _ = await waiter.wait(until: deadline)
    }

    /// Lets every sleeper look at the state anew.
    func wakeSleepers() {
        for waiter in sleepers.values { waiter.wake() }
    }

    /// Pauses between connects. New work does not shorten it, but another configuration does.
    func rest(_ sleeper: Int, for pause: Duration) async {
        let (deadline, before) = (ContinuousClock.now + pause, generation)
        while ContinuousClock.now < deadline, generation == before, !Task.isCancelled, !isDraining {
            await sleep(sleeper, until: deadline)
        }
    }

    /// Lets a stopped app ask again when its time has come.
    func endStopIfDue(backOff: BackOff) {
        guard let deadline = stoppedUntil, ContinuousClock.now >= deadline else { return }
        stoppedUntil = nil
        isOnTrial = true
        policy = ConnectPolicy(backOff: backOff)
        tell(.trying)
    }

    /// Stops the app until its credentials change or the time for another try has come.
    func stop(_ fault: GatewayFault, for pause: Duration) {
        guard stoppedUntil == nil else { return }
        stoppedUntil = .now + pause
        tell(.stopped(fault))
        wakeSleepers()
    }

    /// Tells of a connection that ended, and says how long to pause before the next; at least as long as the report has it.
    func pause(after cause: ConnectPolicy.Cause, _ report: ConnectionReport, stopPause: Duration) -> Duration {
        var report = report
        switch policy.ended(cause, using: &random) {
        case .connect(let pause):
            report.pause = max(report.pause, pause)
            tell(.disconnected(report))
            return report.pause
        case .stop:
            tell(.disconnected(report))
            stop(report.fault, for: stopPause)
            return .zero
        }
    }

    /// Makes windows smaller after a connection that left notifications in doubt, and notes in its report how small, and how
    /// long to pause before the next.
    func note(doubtOf report: inout ConnectionReport) {
        guard report.doubtfulCount + report.unknownCount > 0 else { return }
        report.pause = pacing.endedInDoubt(at: .now, using: &random)
        report.window = pacing.limit
    }

    /// Tells an event, after all that happened before it.
    func tell(_ event: GatewayEvent) {
        tellOutcomes()
        events.tell(event)
    }

    /// Tells what was announced and not processed.
    func withdraw(_ batches: [Batch]) {
        if !batches.isEmpty { tell(.withdrawn(batches)) }
    }

    /// Tells what is next to be written and must be recorded before.
    func announce(_ batches: [Batch]) {
        if !batches.isEmpty { tell(.announcing(batches)) }
    }

    /// Tells nothing any more.
    func finish() {
        tellOutcomes()
        events.finish()
    }

    /// Tells outcomes, and takes what they say about the gateway and the credentials.
    func deliver(_ settlements: [Settlement]) {
        collect(settlements)
        tellOutcomes()
    }

    /// The same, but outcomes may wait some milliseconds for more: telling each handful by itself costs more than they. A
    /// group that is to be recorded does not wait, since it soon takes up room.
    func collect(_ settlements: [Settlement]) {
        for settlement in settlements {
            add(settlement)
            switch settlement.outcome {
            case .accepted: noteAcceptance()
            case .rejected(let refusal):
                if answers.refused(badToken: refusal.verdict == .invalid) { tell(.suspectEnvironment) }
            case .expired, .unsent, .unknown: break
            }
        }
        if case .durable(let group) = recordKeeping, untoldCount >= group { tellOutcomes() }
    }

    /// Takes how many notifications of jobs pause, which may wait as outcomes do, and is told after them.
    func collect(_ paused: [JobID: Int]) {
        guard !paused.isEmpty else { return }
        untoldPaused.merge(paused) { $1 }
        if tellBy == nil { tellBy = .now + Self.patience }
    }

    /// How much room in a window is taken by outcomes that the owner is late to record.
    var roomTaken: Int {
        guard case .durable(let group) = recordKeeping else { return 0 }
        return max(0, unrecordedCount - group)
    }

    /// Notes that outcomes are recorded for good; whether that makes room.
    func noteRecorded(_ count: Int) -> Bool {
        let before = roomTaken
        unrecordedCount -= count
        return before > 0
    }

    /// Tells what has waited long enough.
    func tellIfDue() {
        guard let tellBy, ContinuousClock.now >= tellBy else { return }
        tellOutcomes()
    }

    /// How long outcomes may wait for more.
    private static let patience = Duration.milliseconds(5)

    /// Tells all outcomes that wait, and what pauses.
    func tellOutcomes() {
        if !untold.isEmpty { events.tell(.settled(untold)) }
        if !untoldPaused.isEmpty { events.tell(.paused(untoldPaused)) }
        (untold, untoldCount, untoldPaused, tellBy) = ([], 0, [:], nil)
    }

    /// Adds an outcome, to the one before if it is the same of the notifications that follow.
    private func add(_ settlement: Settlement) {
        untoldCount += settlement.batch.count
        unrecordedCount += settlement.batch.count
        if tellBy == nil { tellBy = .now + Self.patience }
        if settlement.outcome == .accepted, let last = untold.last, last.outcome == .accepted {
            var batch = last.batch
            if batch.merge(settlement.batch) {
                untold[untold.count - 1] = Settlement(batch, .accepted)
                return
            }
        }
        untold.append(settlement)
    }

    private func noteAcceptance() {
        policy.accepted()
        pacing.accepted(at: .now)
        answers.accepted()
        guard isOnTrial else { return }
        isOnTrial = false
        tell(.resumed)
        wakeSleepers()
    }
}
