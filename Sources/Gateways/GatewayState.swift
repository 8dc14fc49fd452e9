import LinuxIO
import PushModel
import ServiceProcess

/// The state of a gateway's app: whether it is stopped, on trial or draining, who waits, and which events the owner has not
/// seen.
///
/// Owned by its gateway, on the reactor.
final class GatewayState {
    let reactor: Reactor
    private let events: GatewayEvents
    /// The configuration's generation. A session of an older one writes nothing more, and closes when nothing is in
    /// doubt.
    private(set) var generation = 0
    private var phase = Phase.open
    /// The refusals that blame the app, and what the last of them said.
    private var identity: (trial: IdentityTrial, complaint: GatewayFault?)
    var isDraining = false
    /// Whether sending is paused by the owner.
    var isPaused = false
    var random = SystemRandomNumberGenerator()
    /// Whether the owner records outcomes, and whether it may still act, asked before each write.
    var owner: (recordKeeping: RecordKeeping, mayAct: ActPermit?)
    /// The number of notifications with an outcome, reported or not, that is not durably recorded.
    private var unrecordedCount = 0
    private var policy: ConnectPolicy
    /// The limit of notifications without an outcome on a connection.
    private(set) var pacing: WindowPacing
    private var answers = AnswerHistory()
    /// The outcomes not reported yet. They wait for more until `reportBy`.
    private var untold: [Settlement] = []
    /// The number of notifications in `untold`.
    private(set) var untoldCount = 0
    /// The numbers of backing-off notifications by job, where not reported yet.
    private var untoldPaused: [JobID: Int] = [:]
    private(set) var reportBy: ContinuousClock.Instant?
    /// Who waits in `sleep`: slots, and the main loop under `nil`.
    private var sleepers: [Slot?: Waiter] = [:]
    private var submitters: [(waiter: Waiter, lane: Lane)] = []
    /// Enforces this gateway's share of the app's rate.
    var rate = RateShare()

    init(_ events: GatewayEvents, _ terms: Terms, recordKeeping: RecordKeeping, on reactor: Reactor) {
        (self.events, owner) = (events, (recordKeeping, nil))
        self.policy = ConnectPolicy(backOff: terms.pacing.backOff)
        (pacing, identity) = (terms.pacing, (terms.trial, nil))
        self.reactor = reactor
    }

    /// What a configuration says about windows and pauses.
    struct Terms {
        /// The initial window, and the pauses between connects.
        let pacing: WindowPacing
        /// Judges the refusals that blame the app.
        let trial: IdentityTrial

        init(_ configuration: some WireConfiguration) {
            let settings = configuration.settings
            pacing = WindowPacing(full: configuration.window, backOff: settings.connectBackOff)
            trial = IdentityTrial(ceiling: settings.stopPause, acceptedAt: settings.acceptedAt)
        }
    }

    /// The counters that other threads read.
    var meter: GatewayMeter { events.meter }

    /// Adds the change in the session's notifications in doubt since the last call to the meter.
    func count(_ session: some GatewaySession) {
        let change = session.doubtCount - session.countedDoubt
        guard change != 0 else { return }
        session.countedDoubt += change
        meter.addInFlight(change)
    }

    /// Whether these credentials ever had an acceptance.
    var hasAcceptance: Bool { answers.hasAcceptance }

    /// Whether anything may be written to a connection at this moment.
    var mayWrite: Bool { owner.mayAct?() ?? true }

    /// Flushes a session, if it may write.
    ///
    /// - Returns: When to try again; `nil` if it was flushed.
    func flush(_ session: some GatewaySession) -> ContinuousClock.Instant? {
        guard mayWrite else { return .now + .milliseconds(20) }
        session.flush()
        return nil
    }

    /// Whether the app may send.
    private enum Phase {
        case open
        case stopped(until: ContinuousClock.Instant, othersFrom: ContinuousClock.Instant?)
        /// After a stop: one notification at a time.
        case onTrial(since: Moment)
    }

    /// When a stopped app tries again, and from when on with a job that was not refused; `nil` if it is not stopped.
    var stop: (until: ContinuousClock.Instant, othersFrom: ContinuousClock.Instant?)? {
        if case .stopped(let until, let othersFrom) = phase { (until, othersFrom) } else { nil }
    }

    /// When a stopped app tries again, if no more work comes; `hasWork`: whether jobs that were not refused wait.
    func stopEnd(hasWork: Bool) -> ContinuousClock.Instant? {
        stop.map { hasWork ? min($0.until, $0.othersFrom ?? $0.until) : $0.until }
    }

    /// Since when the app is on trial after a stop, sending one notification at a time; `nil` if it is not.
    var trialBegin: Moment? { if case .onTrial(let begin) = phase { begin } else { nil } }

    /// Whether connections are useful at present.
    var mayConnect: Bool { stop == nil && !isDraining && !isPaused }

    /// Whether the app is on trial after a stop.
    var isOnTrial: Bool { trialBegin != nil }

    /// Resets the state for another configuration. A stopped app starts again, on trial, and the owner gets an event;
    /// unreported events of the stop come before it.
    func reconfigure(_ terms: Terms) {
        generation += 1
        policy = ConnectPolicy(backOff: terms.pacing.backOff)
        (pacing, identity) = (terms.pacing, (terms.trial, nil))
        answers = AnswerHistory()
        endHold()
        if case .open = phase {} else { beginTrial() }
        wakeSleepers()
    }

    private func beginTrial() {
        phase = .onTrial(since: .now)
        report(.trying)
    }

    /// Suspends a submitter while its lane `isFull`.
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

    /// Wakes the submitters whose lane has room.
    func wakeSubmitters(unless isFull: (Lane) -> Bool) {
        for (waiter, lane) in submitters where !isFull(lane) { waiter.wake() }
    }

    /// Waits until something changes, or until the deadline; the gateway itself, outside its slots, as `nil`.
    func sleep(_ sleeper: Slot?, until deadline: ContinuousClock.Instant?) async {
        let waiter = sleepers[sleeper] ?? Waiter(on: reactor)
        sleepers[sleeper] = waiter
        _ = await waiter.wait(until: deadline)
    }

    /// Wakes every sleeper to check the state again.
    func wakeSleepers() {
        for waiter in sleepers.values { waiter.wake() }
    }

    /// Pauses between connects. New work does not shorten the pause, but a new configuration does.
    func rest(_ sleeper: Slot, for pause: Duration) async {
        let (deadline, before) = (ContinuousClock.now + pause, generation)
        while ContinuousClock.now < deadline, generation == before, !Task.isCancelled, !isDraining {
            await sleep(sleeper, until: deadline)
        }
    }

    /// Puts a stopped app on trial when its pause has ended.
    func endStopIfDue(hasWork: Bool) {
        if let end = stopEnd(hasWork: hasWork), ContinuousClock.now >= end { askAgain() }
    }

    /// Puts a stopped app on trial.
    func askAgain() {
        guard stop != nil else { return }
        policy = ConnectPolicy(backOff: pacing.backOff)
        beginTrial()
        wakeSleepers()
    }

    /// Lets a stopped app ask again if a refusal of this job, which has ended, had a part in the stop.
    func forget(_ job: JobID) {
        if identity.trial.forget(job) { askAgain() }
    }

    /// Notes and reports a refusal of a job, which is on hold for a pause, or only one of its notifications. With
    /// `blamesApp`, no other job shows that the app is not at fault.
    func refused(_ job: JobID, _ fault: GatewayFault, _ pause: Duration?, blamesApp: Bool = false) {
        report(.refusedJob(job, fault, pause))
        guard blamesApp else { return }
        identity.trial.refused(job)
        identity.complaint = fault
    }

    /// Stops the app if the refusals since the last acceptance say so.
    ///
    /// - Parameter hasOthers: Whether notifications of jobs that were not refused wait to be sent, or any are unanswered.
    func judge(hasOthers: Bool) {
        guard stop == nil, let complaint = identity.complaint,
            let stop = identity.trial.judge(hasOthers: hasOthers, at: .now, using: &random)
        else { return }
        begin(stop, complaint)
    }

    /// Stops the app until its credentials change or a pause has passed.
    func stop(_ fault: GatewayFault) {
        guard stop == nil else { return }
        begin(identity.trial.stop(at: .now, using: &random), fault)
    }

    private func begin(_ stop: IdentityTrial.Stop, _ fault: GatewayFault) {
        let now = ContinuousClock.now
        phase = .stopped(until: now + stop.pause, othersFrom: stop.othersPause.map { now + $0 })
        report(.stopped(fault, stop))
        wakeSleepers()
    }

    /// Reports a connection that ended, and returns the pause before the next one, which is at least the report's own.
    func pause(after cause: ConnectPolicy.Cause, _ report: ConnectionReport) -> Duration {
        var report = report
        switch policy.ended(cause, using: &random) {
        case .connect(let pause):
            report.pause = max(report.pause, pause)
            self.report(.disconnected(report))
            return report.pause
        case .stop:
            self.report(.disconnected(report))
            stop(report.fault)
            return .zero
        }
    }

    /// Shrinks the windows after a connection that left notifications in doubt. Sets the new window and the pause
    /// before the next connection in its report. `acceptedCount` notifications were accepted on it.
    func note(doubtOf report: inout ConnectionReport, acceptedCount: Int) {
        let doubtCount = report.doubtfulCount + report.unknownCount
        guard doubtCount > 0 else { return }
        report.pause = pacing.ended(inDoubt: doubtCount, accepted: acceptedCount, at: .now, using: &random)
        report.window = pacing.limit
    }

    /// Reports an event, after everything that happened before it.
    func report(_ event: GatewayEvent) {
        reportOutcomes()
        events.append(event)
    }

    /// Reports announced notifications that were not processed.
    func withdraw(_ batches: [Batch]) {
        if !batches.isEmpty { report(.withdrawn(batches)) }
    }

    /// Reports the notifications that are written next and must be recorded first.
    func announce(_ batches: [Batch]) {
        if !batches.isEmpty { report(.announcing(batches)) }
    }

    /// Reports the remaining outcomes, and ends the events.
    func finish() {
        reportOutcomes()
        events.finish()
    }

    /// Reports outcomes, and updates the state of the gateway and the credentials from them.
    func deliver(_ settlements: [Settlement]) {
        collect(settlements)
        reportOutcomes()
    }

    /// Does the same, but lets outcomes wait some milliseconds for more, because reporting each handful separately is
    /// expensive. A full group that must be recorded is reported at once, since it soon counts against the window.
    func collect(_ settlements: [Settlement]) {
        for settlement in settlements {
            add(settlement)
            switch settlement.outcome {
            case .accepted: noteAcceptance()
            case .rejected(let refusal):
                if answers.refused(badToken: refusal.verdict == .invalid) { report(.suspectEnvironment) }
            case .expired, .unsent, .unknown: break
            }
        }
        if case .durable(let group) = owner.recordKeeping, untoldCount >= group { reportOutcomes() }
    }

    /// Adds the numbers of backing-off notifications by job. They wait as outcomes do, and are reported after them.
    func collect(_ paused: [JobID: Int]) {
        guard !paused.isEmpty else { return }
        untoldPaused.merge(paused) { $1 }
        if reportBy == nil { reportBy = .now + Self.patience }
    }

    /// How much of a window is taken by outcomes that the owner has not recorded yet.
    var roomTaken: Int {
        guard case .durable(let group) = owner.recordKeeping else { return 0 }
        return max(0, unrecordedCount - group)
    }

    /// Notes that `count` outcomes are durably recorded. Returns whether that makes room.
    func noteRecorded(_ count: Int) -> Bool {
        let before = roomTaken
        unrecordedCount -= count
        return before > 0
    }

    /// Reports the outcomes if they have waited long enough.
    func reportIfDue() {
        guard let reportBy, ContinuousClock.now >= reportBy else { return }
        reportOutcomes()
    }

    /// How long outcomes may wait for more.
    private static let patience = Duration.milliseconds(5)

    /// Reports all waiting outcomes, then the backing-off notifications.
    func reportOutcomes() {
        if !untold.isEmpty { events.append(.settled(untold)) }
        if !untoldPaused.isEmpty { events.append(.paused(untoldPaused)) }
        (untold, untoldCount, untoldPaused, reportBy) = ([], 0, [:], nil)
    }

    /// Adds an outcome. If it continues an accepted batch with the next notifications, merges the two.
    private func add(_ settlement: Settlement) {
        untoldCount += settlement.batch.count
        unrecordedCount += settlement.batch.count
        if reportBy == nil { reportBy = .now + Self.patience }
        if let last = untold.indices.last, untold[last].merge(settlement) { return }
        untold.append(settlement)
    }

    private func noteAcceptance() {
        policy.accepted()
        pacing.accepted(at: .now)
        answers.accepted()
        identity.trial.accepted(at: .now)
        identity.complaint = nil
        guard isOnTrial else { return }
        phase = .open
        report(.resumed)
        wakeSleepers()
    }
}
