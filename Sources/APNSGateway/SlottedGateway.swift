import APNSModel
import LinuxIO
import ServiceProcess

/// The part of a connection that its gateway uses, for either protocol.
protocol GatewaySession: AnyObject {
    /// The generation of its configuration; see `GatewayState.generation`.
    var generation: Int { get }
    /// The number of notifications that were written and have no outcome.
    var doubtCount: Int { get }
    /// How many of them the gateway's meter includes; see `GatewayState.count`.
    var countedDoubt: Int { get set }
    /// The number of notifications it has room for now, if `inherited` others take a part of its window.
    func room(besides inherited: Int) -> Int
    /// Passes ciphertext to the kernel.
    func flush()
    /// Whether it has all the notifications it may have at a time. Only then is another connection useful.
    var isExhausted: Bool { get }
}

/// The slot logic of both gateways: each slot opens one connection after the other while there is work.
protocol SlottedGateway: Actor {
    associatedtype Session: GatewaySession

    var state: GatewayState { get }
    /// The connections that take work, by slot.
    var sessions: [Int: Session] { get }
    /// The slots to run. More may follow.
    var slots: [Int] { get }
    /// Accounts for the descriptors of connections; `nil` disables the accounting.
    var sockets: DescriptorShare? { get }
    /// Whether there is work for a slot's connection.
    func hasWork(for slot: Int) -> Bool
    /// Whether any notification waits to be sent now, or to be announced.
    var hasWork: Bool { get }
    /// The number of notifications on connections that have no answer.
    var unansweredCount: Int { get }
    /// Whether notifications of jobs on hold are kept apart.
    var hasHeldWork: Bool { get }
    /// When the first job on hold may ask again.
    var nextAsk: Moment? { get }
    /// Lets the jobs on hold whose pause has ended ask again, or, with `one`, the one refused longest ago.
    ///
    /// - Returns: Whether there are any.
    func ask(_ one: Bool, at now: Moment) -> Bool
    /// Wakes all sleepers and connections to check the state again.
    func wakeAll()
    /// The connections that take the same work as a slot's, and how many of them must be exhausted before it opens one.
    func peers(of slot: Int) -> (sessions: [Session], rank: Int)
    /// Whether one connection is enough at present.
    var wantsOneConnection: Bool { get }

    /// The number of notifications that wait for answers on connections that this one replaced: they share its window.
    func inheritedDoubt(of session: Session) -> Int

    /// Opens a connection, sends on it until it takes no more, and returns the pause before the next connect.
    ///
    /// Keeps the lease until the connection is closed, which may be after the call returns.
    func runConnection(_ slot: Int, holding lease: DescriptorLease?) async -> Duration

    /// Does the work that is due outside the slots, and returns when more is due.
    func attend(in group: inout DiscardingTaskGroup) -> ContinuousClock.Instant?
}

extension SlottedGateway {
    /// Serves until the task is cancelled.
    func runSlots() async {
        var started: Set<Int> = []
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                for slot in slots where started.insert(slot).inserted {
                    group.addTask { await self.runSlot(slot) }
                }
                let next = attend(in: &group)
                await state.sleep(GatewayState.keeper, until: next)
            }
        }
    }

    /// Runs one connection after the other until the task is cancelled.
    private func runSlot(_ slot: Int) async {
        while !Task.isCancelled {
            guard isWanted(slot) else {
                await state.sleep(slot, until: state.stopEnd(hasWork: hasWork))
                state.endStopIfDue(hasWork: hasWork)
                continue
            }
            let pause = await runConnection(slot)
            if pause > .zero { await state.rest(slot, for: pause) }
        }
    }

    /// Opens a connection if descriptors are available. Otherwise draining connections or other apps use them all.
    private func runConnection(_ slot: Int) async -> Duration {
        guard let sockets else { return await runConnection(slot, holding: nil) }
        // One for the socket, and one for what connecting opens.
        guard let lease = sockets.lease(2) else { return .seconds(1) }
        return await runConnection(slot, holding: lease)
    }

    /// Lets jobs on hold ask again when it is time, and returns when it is next.
    func attendHolds() -> ContinuousClock.Instant? {
        guard state.mayConnect, hasHeldWork else { return nil }
        guard let trialBegin = state.trialBegin else {
            if ask(false, at: .now) { wakeAll() }
            return nextAsk?.instant
        }
        guard !hasWork, unansweredCount == 0 else { return nil }
        let deadline = trialBegin + Self.otherJobs
        guard Moment.now >= deadline else { return deadline.instant }
        if ask(true, at: .now) { wakeAll() }
        return nil
    }

    /// How long an app on trial waits for the notification of a job that was not refused.
    private static var otherJobs: Duration { .seconds(1) }

    /// Whether there is work that the open connections cannot take.
    private func isWanted(_ slot: Int) -> Bool {
        guard state.mayConnect, hasWork(for: slot), slots.contains(slot) else { return false }
        let (peers, rank) = peers(of: slot)
        guard rank > 0 else { return true }
        let others = peers.filter { $0.generation == state.generation }
        return !state.isOnTrial && !wantsOneConnection && others.count >= rank && others.allSatisfy(\.isExhausted)
    }

    /// The number of notifications a session gets now: limited by its window, the unrecorded outcomes and the rate,
    /// and to one at a time while the app is on trial.
    func allowance(_ session: Session) -> Int {
        guard state.isOnTrial else {
            let inherited = inheritedDoubt(of: session)
            let room = min(session.room(besides: inherited), state.pacing.limit - session.doubtCount - inherited)
            return max(0, min(room - state.roomTaken, state.rateRoom))
        }
        return sessions.values.allSatisfy { $0.doubtCount == 0 } ? min(1, session.room(besides: 0), state.rateRoom) : 0
    }
}
