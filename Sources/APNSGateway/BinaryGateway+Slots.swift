import APNSBinary
import APNSModel
import LinuxIO
import Logging

extension BinaryGateway {
    /// One of the app's connections after the other, until the task is cancelled or the gateway drained.
    func runSlot(_ slot: Int) async {
        while !Task.isCancelled {
            guard isWanted(slot) else {
                await sleep(slot: slot, until: stoppedUntil)
                endStopIfDue()
                continue
            }
            let pause = await runConnection(slot)
            if pause > .zero { await rest(slot, for: pause) }
        }
    }

    /// Whether there is work that the connections which are up do not take.
    private func isWanted(_ slot: Int) -> Bool {
        guard stoppedUntil == nil, !isDraining, !queue.isBlocked, slot < configuration.connectionLimit else {
            return false
        }
        guard slot > 0 else { return true }
        let others = sessions.values.filter { $0.generation == generation }
        return !isOnTrial && !queue.isHunting && others.count >= slot && others.allSatisfy { $0.room == 0 }
    }

    /// Pauses between connects. New work does not shorten it, but another configuration does.
    private func rest(_ slot: Int, for pause: Duration) async {
        let (deadline, before) = (ContinuousClock.now + pause, generation)
        while ContinuousClock.now < deadline, generation == before, !Task.isCancelled, !isDraining {
            await sleep(slot: slot, until: deadline)
        }
    }

    private func endStopIfDue() {
        guard let deadline = stoppedUntil, ContinuousClock.now >= deadline else { return }
        stoppedUntil = nil
        isOnTrial = true
        policy = ConnectPolicy(backOff: configuration.connectBackOff)
        publisher.yield(.trying)
    }

    /// Opens a connection, sends on it until it ends, and says how long to pause before the next.
    private func runConnection(_ slot: Int) async -> Duration {
        let settings = configuration
        let startGeneration = generation
        do {
            let deadline = ContinuousClock.now + settings.connectTimeout
            let stream = try await settings.endpoint.open(settings.context, on: reactor, until: deadline)
            try await settings.endpoint.awaitConsent(stream)
            let session = BinarySession(stream, settings, generation: startGeneration)
            sessions[slot] = session
            publisher.yield(.connected(settings.endpoint.description))
            let end = await serve(session)
            sessions[slot] = nil
            return conclude(session, end)
        } catch let failure as ConnectFailure {
            return pauseAfter(failure.cause, ConnectionReport(failure.fault))
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
                session.generation != generation || isDraining || stoppedUntil != nil || session.isIdle
            if isRetiring, session.doubtCount == 0 {
                return await session.close()
            }
            do {
                if !isRetiring { try fill(session) }
                try session.probeIfIdle(hasWork: !queue.isBlocked && !isRetiring)
            } catch {
                return .lost(GatewayFault("encryption failed: \(error)"))
            }
            session.flush()
            // With more to send, and room for it, the wait only gives others their turn.
            if !isRetiring, !queue.isBlocked, allowance(session) > 0 { session.wake() }
            if await session.wait().contains(.cancelled) {
                session.abort()
                return .lost(GatewayFault("the program ends"))
            }
        }
    }

    /// Writes as much of the queue as the session takes, but for what has waited too long.
    private func fill(_ session: BinarySession) throws {
        let now = WallTime(nanoseconds: WallClock.nanoseconds())
        while let batch = queue.next(atMost: allowance(session)) {
            if batch.attributes.expiration.hasPassed(at: now) {
                deliver([Settlement(batch, .expired)])
                continue
            }
            var rest = batch
            // Also what a write that failed has left.
            defer { if !rest.isEmpty { queue.putBack(rest) } }
            try session.write(&rest)
            if !rest.isEmpty { break }
        }
        wakeSubmitters()
        if session.room == 0, !queue.isBlocked { wakeSlots(besides: session) }
    }

    private func allowance(_ session: BinarySession) -> Int {
        guard isOnTrial else { return session.room }
        return sessions.values.allSatisfy { $0.doubtCount == 0 } ? min(1, session.room) : 0
    }

    /// Takes what the end of a session proved, and says how long to pause.
    private func conclude(_ session: BinarySession, _ end: BinarySession.End) -> Duration {
        let isProven = answers.hasAcceptance
        let conclusion = session.conclude(end, isProven: isProven)
        let settlements = queue.take(conclusion)
        if !conclusion.revoked.isEmpty { publisher.yield(.reopened(conclusion.revoked)) }
        deliver(settlements)
        var report = ConnectionReport(end.fault)
        report.resentCount = conclusion.tail.reduce(0) { $0 + $1.count } - conclusion.doubtfulCount
        report.doubtfulCount = conclusion.doubtfulCount
        report.unknownCount = settlements.filter { $0.outcome == .unknown }.reduce(0) { $0 + $1.batch.count }
        report.revokedCount = conclusion.revokedCount
        report.lostCount = conclusion.lostCount
        switch end {
        case .closed:
            return .zero
        case .reply(let reply) where reply.status.failureClass == .app:
            publisher.yield(.disconnected(report))
            stop(reply.status.fault)
            return .zero
        case .reply(let reply) where reply.status.acceptsNamed && !session.hasAcceptance:
            // A gateway that shuts down again and again without taking anything is not to be called at speed.
            return pauseAfter(.lost, report)
        case .reply(let reply):
            report.isRoutine = true
            return pauseAfter(reply.status.failureClass == .serverError ? .serverError : .answered, report)
        case .lost where session.isFresh && !isProven:
            report.fault = .unwanted(report.fault.message)
            return pauseAfter(.refused, report)
        case .lost:
            return pauseAfter(.lost, report)
        case .refused:
            return pauseAfter(.refused, report)
        }
    }

    private func pauseAfter(_ cause: ConnectPolicy.Cause, _ report: ConnectionReport) -> Duration {
        var report = report
        switch policy.ended(cause, using: &random) {
        case .connect(let pause):
            report.pause = pause
            publisher.yield(.disconnected(report))
            return pause
        case .stop:
            publisher.yield(.disconnected(report))
            stop(report.fault)
            return .zero
        }
    }

    /// Stops the app until its credentials change or the time for another try has come.
    private func stop(_ fault: GatewayFault) {
        stoppedUntil = .now + configuration.stopPause
        publisher.yield(.stopped(fault))
    }

    /// Tells outcomes, and what they say about the gateway and the credentials.
    private func deliver(_ settlements: [Settlement]) {
        guard !settlements.isEmpty else { return }
        queue.confirm(settlements)
        publisher.yield(.settled(settlements))
        for settlement in settlements {
            switch settlement.outcome {
            case .accepted: noteAcceptance()
            case .rejected(let refusal):
                if answers.refused(badToken: refusal.verdict == .invalid) { publisher.yield(.suspectEnvironment) }
            case .expired, .unsent, .unknown: break
            }
        }
    }

    private func noteAcceptance() {
        policy.accepted()
        answers.accepted()
        guard isOnTrial else { return }
        isOnTrial = false
        publisher.yield(.resumed)
        wakeSlots()
    }

    private func wakeSlots(besides session: BinarySession) {
        guard sessions.count < configuration.connectionLimit else { return }
        wakeSlots()
    }
}

extension BinarySession.End {
    /// The end in words.
    var fault: GatewayFault {
        switch self {
        case .reply(let reply): reply.status.fault
        case .lost(let fault), .refused(let fault): fault
        case .closed: GatewayFault("closed")
        }
    }
}

extension Status {
    /// The status in words, with what a person can do about it.
    var fault: GatewayFault {
        GatewayFault(
            "the gateway answered \(reason) (status \(rawValue))",
            hint: failureClass == .app ? "the certificate names no usable topic: get one issued for the app" : nil)
    }
}

extension ConnectionReport {
    /// A report of a connection that had nothing in doubt.
    init(_ fault: GatewayFault) {
        self.init(
            fault: fault, pause: .zero, resentCount: 0, doubtfulCount: 0, unknownCount: 0, revokedCount: 0,
            lostCount: 0,
            isRoutine: false)
    }
}
