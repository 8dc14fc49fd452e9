import LinuxIO
import Logging
import PushModel
import ServiceProcess

/// Delivers one app's notifications over one protocol: takes batches, reports outcomes.
///
/// Keeps up to `connectionLimit` connections for each route, all fed from one queue, and opens them when there is work:
/// each slot opens one after the other. Over HTTP/2, one that takes no more work drains while its successor already sends.
/// Runs on the reactor's thread, as its connections do. Nothing is sent unless `run` is running.
actor Gateway<W: Wire>: PushGateway {
    /// The events, in order. There are never more settlements than submitted notifications, so the stream needs no
    /// other bound.
    nonisolated let events = GatewayEvents()

    private nonisolated let reactor: Reactor
    private let state: GatewayState
    private let work: GatewayWork<W>
    private let wire: W

    /// Creates a gateway. It does not connect until there is work and `run` is called.
    init(_ configuration: W.Configuration, recordKeeping: RecordKeeping, on reactor: Reactor, logger: Logger) {
        self.reactor = reactor
        let state = GatewayState(events, .init(configuration), recordKeeping: recordKeeping, on: reactor)
        state.owner.mayAct = configuration.settings.mayAct
        state.keep(configuration.settings.rate)
        let work = GatewayWork<W>(configuration, state, logger)
        (self.state, self.work, wire) = (state, work, W(work))
    }

    /// The reactor's thread.
    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    // MARK: Work

    func submit(_ batches: [Batch]) async throws {
        guard let lane = batches.first?.lane else { return }
        try await state.waitForRoom(in: lane, while: work.isFull)
        for batch in batches { work.queue.append(batch) }
        work.wakeAll()
    }

    func recorded(_ count: Int) {
        if state.noteRecorded(count) { work.wakeAll() }
    }

    func announced(_ batches: [Batch]) {
        work.queue.announced(batches)
        work.wakeAll()
    }

    func remove(_ job: JobID) -> [Batch] {
        let removed = work.queue.remove(job)
        state.forget(job)
        noteRemoval()
        return removed
    }

    func removeUnwritten(_ job: JobID, count: Int) -> [Batch]? {
        defer { noteRemoval() }
        return work.queue.removeUnwritten(job, count: count)
    }

    private func noteRemoval() {
        state.collect(work.queue.takePausedCounts())
        state.reportOutcomes()
        work.wakeSubmitters()
    }

    func releasePaused() -> Bool {
        guard work.queue.releasePaused() else { return false }
        work.wakeAll()
        return true
    }

    // MARK: Changes

    func reconfigure(_ configuration: GatewayConfiguration) -> Bool {
        guard let configuration = configuration.wire as? W.Configuration else { return false }
        work.configuration = configuration
        wire.reconfigure()
        state.reconfigure(.init(configuration))
        state.keep(configuration.settings.rate)
        work.wakeAll()
        return true
    }

    func drain() {
        state.isDraining = true
        work.wakeAll()
    }

    func setPaused(_ isPaused: Bool) {
        state.isPaused = isPaused
        work.wakeAll()
    }

    func shareRate(among count: Int) { state.shareRate(among: count) }

    // MARK: State

    var pendingInDoubt: Int { state.untoldCount + work.unansweredCount }

    var isAtWork: Bool { work.queue.hasWork || pendingInDoubt > 0 }

    // MARK: Connections

    func run() async {
        await runSlots()
        // Serves the connections that a slot retired after the last round.
        await withDiscardingTaskGroup { serveDraining(in: &$0) }
        state.finish()
    }

    private var slots: [Slot] {
        work.queue.routes.flatMap { route in
            (0..<work.configuration.settings.connectionLimit).map { Slot(route: route, rank: $0) }
        }
    }

    private func runSlots() async {
        var started: Set<Slot> = []
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                for slot in slots where started.insert(slot).inserted {
                    group.addTask { await self.runSlot(slot) }
                }
                let next = attend(in: &group)
                await state.sleep(nil, until: next)
            }
        }
    }

    /// Does the work that is due outside the slots, and returns when more is due.
    private func attend(in group: inout DiscardingTaskGroup) -> ContinuousClock.Instant? {
        serveDraining(in: &group)
        if work.queue.release(at: .now) { work.wakeAll() }
        return [work.queue.nextRelease?.instant, attendHolds()].compactMap(\.self).min()
    }

    /// Starts a task for each draining connection that has none.
    private func serveDraining(in group: inout DiscardingTaskGroup) {
        for number in work.draining.takeUnattended() {
            group.addTask { await self.serveToTheEnd(number) }
        }
    }

    private func serveToTheEnd(_ number: Int) async { await wire.serveToTheEnd(number) }

    /// Runs one connection after the other until the task is cancelled.
    private func runSlot(_ slot: Slot) async {
        while !Task.isCancelled {
            guard isWanted(slot) else {
                await state.sleep(slot, until: state.stopEnd(hasWork: work.queue.hasWork))
                state.endStopIfDue(hasWork: work.queue.hasWork)
                continue
            }
            let pause = await runConnection(slot)
            if pause > .zero { await state.rest(slot, for: pause) }
        }
    }

    /// Opens a connection if descriptors are available. Otherwise draining connections or other apps use them all.
    private func runConnection(_ slot: Slot) async -> Duration {
        guard let sockets = work.configuration.settings.sockets else {
            return await wire.serve(slot, holding: nil)
        }
        // One for the socket, and one for what connecting opens.
        guard let lease = sockets.lease(2) else { return .seconds(1) }
        return await wire.serve(slot, holding: lease)
    }

    /// How long an app on trial waits for the notification of a job that was not refused.
    private static var otherJobs: Duration { .seconds(1) }

    /// Lets jobs on hold ask again when it is time, and returns when it is next.
    private func attendHolds() -> ContinuousClock.Instant? {
        guard state.mayConnect, work.queue.hasHeldWork else { return nil }
        guard let trialBegin = state.trialBegin else {
            if work.queue.ask(false, at: .now) { work.wakeAll() }
            return work.queue.nextAsk?.instant
        }
        guard !work.queue.hasWork, work.unansweredCount == 0 else { return nil }
        let deadline = trialBegin + Self.otherJobs
        guard Moment.now >= deadline else { return deadline.instant }
        if work.queue.ask(true, at: .now) { work.wakeAll() }
        return nil
    }

    /// Whether there is work that the open connections cannot take.
    private func isWanted(_ slot: Slot) -> Bool {
        guard state.mayConnect, !work.queue.isBlocked(slot.route), slots.contains(slot) else { return false }
        guard slot.rank > 0 else { return true }
        let others = work.sessions.filter { $0.key.route == slot.route && $0.value.generation == state.generation }
            .values
        return !state.isOnTrial && !work.queue.wantsOneConnection && others.count >= slot.rank
            && others.allSatisfy(\.isExhausted)
    }
}
