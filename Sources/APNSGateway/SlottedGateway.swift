import APNSModel
import LinuxIO

/// A connection as its gateway sees it, whatever is spoken over it.
protocol GatewaySession: AnyObject {
    /// Which configuration it belongs to; see `GatewayState.generation`.
    var generation: Int { get }
    /// How many notifications have been written and have no outcome.
    var doubtCount: Int { get }
    /// How many of them are counted in the gateway's meter; see `GatewayState.count`.
    var countedDoubt: Int { get set }
    /// How many notifications it takes now.
    var room: Int { get }
    /// Whether it has all that it may have at a time: only then another connection is of use.
    var isExhausted: Bool { get }
}

/// What the gateways of both protocols do alike: each of their slots opens one connection after the other, as there is
/// work.
protocol SlottedGateway: Actor {
    associatedtype Session: GatewaySession

    var state: GatewayState { get }
    /// Connections that take work, by slot.
    var sessions: [Int: Session] { get }
    /// How many slots there may be.
    var connectionLimit: Int { get }
    /// What counts the descriptors of connections; `nil`: they are not counted.
    var sockets: DescriptorShare? { get }
    /// The pauses between connects that fail.
    var connectBackOff: BackOff { get }
    /// Whether a connection would get something to send.
    var hasWork: Bool { get }
    /// Whether one connection is enough for the present.
    var wantsOneConnection: Bool { get }

    /// How many notifications wait for answers on connections whose place this one has taken: they share its window.
    func inheritedDoubt(of session: Session) -> Int

    /// Opens a connection, sends on it until it takes no more, and says how long to pause before the next.
    ///
    /// The lease is kept until the connection is closed, which may be later.
    func runConnection(_ slot: Int, holding lease: DescriptorLease?) async -> Duration

    /// Does what is due besides the slots, and says when there is more of it.
    func attend(in group: inout DiscardingTaskGroup) -> ContinuousClock.Instant?
}

extension SlottedGateway {
    /// Serves until the task is cancelled.
    func runSlots() async {
        var limit = 0
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                while limit < connectionLimit {
                    let slot = limit
                    group.addTask { await self.runSlot(slot) }
                    limit += 1
                }
                let next = attend(in: &group)
                await state.sleep(GatewayState.keeper, until: next)
            }
        }
    }

    /// One connection after the other, until the task is cancelled or the gateway drained.
    private func runSlot(_ slot: Int) async {
        while !Task.isCancelled {
            guard isWanted(slot) else {
                await state.sleep(slot, until: state.stoppedUntil)
                state.endStopIfDue(backOff: connectBackOff)
                continue
            }
            let pause = await runConnection(slot)
            if pause > .zero { await state.rest(slot, for: pause) }
        }
    }

    /// Opens a connection if there are descriptors for it: else those that wait for their last answers, or other apps, have
    /// them.
    private func runConnection(_ slot: Int) async -> Duration {
        guard let sockets else { return await runConnection(slot, holding: nil) }
        // Its socket, and what it opens while it connects.
        guard let lease = sockets.lease(2) else { return .seconds(1) }
        return await runConnection(slot, holding: lease)
    }

    /// Whether there is work that the connections which are up do not take.
    private func isWanted(_ slot: Int) -> Bool {
        guard state.mayConnect, hasWork, slot < connectionLimit else { return false }
        guard slot > 0 else { return true }
        let others = sessions.values.filter { $0.generation == state.generation }
        return !state.isOnTrial && !wantsOneConnection && others.count >= slot && others.allSatisfy(\.isExhausted)
    }

    /// How many notifications a session gets now: what its window, the journal and the rate leave room for; one at a time
    /// while the app is on trial.
    func allowance(_ session: Session) -> Int {
        guard state.isOnTrial else {
            let room = min(session.room, state.pacing.limit - session.doubtCount)
            return max(0, min(room - state.roomTaken - inheritedDoubt(of: session), state.rateRoom))
        }
        return sessions.values.allSatisfy { $0.doubtCount == 0 } ? min(1, session.room, state.rateRoom) : 0
    }
}
