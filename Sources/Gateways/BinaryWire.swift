import APNSBinary
import LinuxIO
import PushModel
import ServiceProcess

/// The binary protocol of compatible gateways: how connections are opened and served, and what their ends mean.
package final class BinaryWire: Wire {
    typealias Session = BinarySession
    typealias Queue = SendQueue

    private let work: GatewayWork<BinaryWire>
    private let state: GatewayState

    init(_ work: GatewayWork<BinaryWire>) { (self.work, state) = (work, work.state) }

    static func makeQueue(_: Configuration, announces: Bool) -> SendQueue { SendQueue(announces: announces) }

    func reconfigure() { work.queue.startOver() }

    /// Does nothing: a connection settles everything itself, and the next one takes its place after that.
    func serveToTheEnd(_: Int) async {}

    /// Opens a connection, sends on it until it ends, and returns the pause before the next connect.
    func serve(_ slot: Slot, holding lease: DescriptorLease?) async -> Duration {
        defer { withExtendedLifetime(lease) {} }
        let settings = work.configuration
        let startGeneration = state.generation
        do {
            let deadline = ContinuousClock.now + settings.timeouts.connect
            let stream = try await settings.endpoint.open(settings.context, on: state.reactor, until: deadline)
            try await settings.endpoint.awaitConsent(stream)
            let session = BinarySession(stream, settings, for: (slot, startGeneration))
            work.sessions[slot] = session
            state.report(.connected(settings.endpoint.description))
            let end = await serve(session)
            work.sessions[slot] = nil
            return conclude(session, end)
        } catch let failure as ConnectFailure {
            return state.pause(after: failure.cause, ConnectionReport(failure.fault))
        } catch {
            return .zero
        }
    }

    /// Sends and reads until the session ends.
    private func serve(_ session: BinarySession) async -> BinarySession.End {
        while true {
            if let end = session.read() { return end }
            deliver(session.settle())
            if session.hasUnansweredProbe { return .lost(GatewayFault("the flush probe was not answered")) }
            let isRetiring =
                session.generation != state.generation || !state.mayConnect || session.isIdle || session.isOld
            if isRetiring, session.doubtCount == 0 {
                return await session.close()
            }
            do {
                if !isRetiring, state.mayWrite { try fill(session) }
                try session.probeIfIdle(hasWork: !work.queue.isBlocked && !isRetiring)
            } catch {
                return .lost(GatewayFault("encryption failed: \(error)"))
            }
            let permitDeadline = state.flush(session)
            state.count(session)
            // Computed before the check of the queue below, so that the check sees tokens that the rate adds meanwhile.
            let rateDeadline =
                isRetiring ? nil : state.rateDeadline(for: work.queue.count - work.queue.unannouncedCount)
            // When there is more to send and room for it, the wait only yields to other tasks.
            if permitDeadline == nil, !isRetiring, work.queue.gives(atMost: work.allowance(session)) { session.wake() }
            if await session.wait(until: [rateDeadline], orFor: permitDeadline).contains(.cancelled) {
                if session.doubtCount == 0 { return await session.close() }
                session.abort()
                return .lost(GatewayFault("the daemon is stopping"))
            }
        }
    }

    /// Writes as much of the queue as the session has room for. Expired notifications get their outcome instead.
    private func fill(_ session: BinarySession) throws {
        let now = WallTime.now
        defer {
            state.announce(work.queue.takeUnannounced())
            state.withdraw(work.queue.takeWithdrawn())
            state.collect(work.queue.takePausedCounts())
        }
        while let batch = work.queue.next(atMost: work.allowance(session)) {
            if batch.attributes.expiration.hasPassed(at: now) {
                deliver([Settlement(batch, .expired)])
                if work.queue.hasHeldWork { state.wakeSleepers() }
                continue
            }
            var rest = batch
            // Runs after a failed write too, and puts back the remainder.
            defer {
                state.spend(batch.count - rest.count)
                if !rest.isEmpty { work.queue.putBack(rest) }
            }
            try session.write(&rest)
            if !rest.isEmpty { break }
        }
        work.wakeSubmitters()
        if session.room() == 0, !work.queue.isBlocked { wakeOthers(than: session) }
    }

    /// Applies the conclusions from the end of a session, and returns the pause before the next connect.
    private func conclude(_ session: BinarySession, _ end: BinarySession.End) -> Duration {
        let isProven = state.hasAcceptance
        let resolution = session.conclude(end, isProven: isProven)
        state.count(session)
        let backOff = BackOff.ofRefusals(ceiling: work.configuration.stopPause)
        let settlements = work.queue.apply(resolution, at: .now) { backOff.pause(after: $0, using: &state.random) }
        if !resolution.revoked.isEmpty { state.report(.reopened(resolution.revoked)) }
        state.withdraw(work.queue.takeWithdrawn())
        deliver(settlements)
        state.collect(work.queue.takePausedCounts())
        var report = ConnectionReport(end.fault, resolution)
        report.unknownCount = settlements.filter { $0.outcome == .unknown }.reduce(0) { $0 + $1.batch.count }
        switch end {
        case .closed:
            return .zero
        case .reply(let reply) where reply.status.failureClass == .app:
            state.report(.disconnected(report))
            // A late reply to a replaced configuration says nothing about the current one.
            if session.generation == state.generation { note(reply.status.fault, by: resolution.named?.job) }
            return .zero
        case .reply(let reply) where reply.status.acceptsNamed && !session.hasAcceptance:
            // Back off from a gateway that keeps shutting down without accepting anything.
            return state.pause(after: .lost, report)
        case .reply(let reply):
            report.isRoutine = true
            let cause = cause(of: reply, resolution)
            // For the timer of jobs on hold.
            if cause == .serverError { work.wakeAll() }
            return state.pause(after: cause, report)
        case .lost where session.isFresh && !isProven:
            report.fault = .unwanted(report.fault.message)
            return state.pause(after: .refused, report)
        case .lost:
            return state.pause(after: .lost, report)
        case .refused:
            return state.pause(after: .refused, report)
        }
    }

    /// Notes a fault of the app that the gateway reported for a notification of a job, or without naming one.
    private func note(_ fault: GatewayFault, by job: JobID?) {
        guard let job else { return state.stop(fault) }
        state.refused(job, fault, work.queue.holdPause(of: job), blamesApp: work.queue.blamesApp(for: job))
        state.judge(hasOthers: work.queue.hasWork || work.unansweredCount > 0)
        // For the timer of jobs on hold.
        work.wakeAll()
    }

    /// Returns why a connection is missing that ended with this reply, which does not blame the app.
    private func cause(of reply: ErrorReply, _ resolution: DoubtResolution) -> ConnectPolicy.Cause {
        guard reply.status.failureClass == .serverError else { return .answered }
        // Nothing else is sent during a hunt or a trial, so the pauses grow at once.
        let isAlone = resolution.named != nil && !work.queue.isHunting && !state.isOnTrial
        return isAlone ? .serverError : .unreachable
    }

    /// Reports outcomes.
    private func deliver(_ settlements: [Settlement]) {
        work.queue.confirm(settlements)
        let wasOnTrial = state.isOnTrial
        state.deliver(settlements)
        if wasOnTrial, !state.isOnTrial { work.queue.hurry(at: .now) }
    }

    private func wakeOthers(than session: BinarySession) {
        guard work.sessions.count < work.configuration.connectionLimit else { return }
        work.wakeAll()
    }
}

extension BinarySession.End {
    /// The reason as a message.
    var fault: GatewayFault {
        switch self {
        case .reply(let reply): reply.status.fault
        case .lost(let fault), .refused(let fault): fault
        case .closed: GatewayFault("closed")
        }
    }
}

extension Status {
    /// The status as a message, with a hint for the operator.
    var fault: GatewayFault {
        GatewayFault(
            "the gateway answered \(reason) (status \(rawValue))",
            hint: failureClass == .app ? "get a certificate issued for the app: this one has no usable topic" : nil)
    }
}

extension ConnectionReport {
    /// Creates a report of a connection that had nothing in doubt.
    init(_ fault: GatewayFault) {
        self.init(
            fault: fault, pause: .zero, resentCount: 0, doubtfulCount: 0, unknownCount: 0, revokedCount: 0,
            lostCount: 0,
            isRoutine: false)
    }

    /// Creates a report of a connection that ended like this.
    fileprivate init(_ fault: GatewayFault, _ resolution: DoubtResolution) {
        self.init(fault)
        resentCount = resolution.tail.notificationCount - resolution.doubtfulCount
        (doubtfulCount, revokedCount) = (resolution.doubtfulCount, resolution.revokedCount)
        lostCount = resolution.lostCount
    }
}

extension SendQueue: WireQueue {
    var routes: [Route] { [.devices] }
    var wantsOneConnection: Bool { isHunting }
    func isBlocked(_: Route) -> Bool { isBlocked }
    var hasWork: Bool { !isBlocked || unannouncedCount > 0 }
    func newCount(of lane: Lane) -> Int { count(of: lane) }

    /// Always `nil`: no notification backs off.
    var nextRelease: Moment? { nil }
    mutating func release(at _: Moment) -> Bool { false }
    mutating func releasePaused() -> Bool { false }
}
