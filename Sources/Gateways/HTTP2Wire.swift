import APNSHTTP2
import APNSModel
import LinuxIO
import Logging
import PushHTTP2
import PushModel
import ServiceProcess

/// HTTP/2, Apple's protocol: how connections are opened and served, and what becomes of answers.
package final class HTTP2Wire: Wire {
    typealias Session = HTTP2Session
    typealias Queue = RoutedQueues

    private let work: GatewayWork<HTTP2Wire>
    private let state: GatewayState
    /// Tracks answers that show trouble at the gateway, or at a server in its place.
    private var trouble = TroubleWatch()
    /// The token that the gateway called expired, until there is a new one, and whether the account is to blame if it is too
    /// new to be replaced.
    private var expired: (token: BearerToken, blamesAccount: Bool)?
    /// The minimum pause before the next connection.
    private var restAhead = Duration.zero

    init(_ work: GatewayWork<HTTP2Wire>) { (self.work, state) = (work, work.state) }

    static func makeQueue(_ configuration: Configuration, announces: Bool) -> RoutedQueues {
        RoutedQueues(pauses: configuration.pauses, announces: announces)
    }

    func reconfigure() {
        work.queue.reconfigure(work.configuration.pauses)
        (trouble, expired, restAhead) = (TroubleWatch(), nil, .zero)
    }

    /// Opens a connection, sends on it until it takes no more, and returns the pause before the next connect.
    func serve(_ slot: Slot, holding lease: DescriptorLease?) async -> Duration {
        let (settings, generation) = (work.configuration.of(slot.route), state.generation)
        do {
            let token = try await currentToken()
            let deadline = ContinuousClock.now + settings.timeouts.connect
            let stream = try await settings.endpoint.openHTTP2(
                settings.context, through: settings.proxy, on: state.reactor, until: deadline)
            let session = try HTTP2Session(stream, settings, token, for: (slot, generation))
            session.lease = lease
            work.sessions[slot] = session
            state.report(.connected(settings.endpoint.description))
            let end = await serve(session)
            await session.part()
            work.sessions[slot] = nil
            // A gateway may close right after its GOAWAY, before the loop acts on it: that is a retirement, not a loss.
            guard let end, !session.isFinished || Task.isCancelled else {
                session.retire()
                // It ends in a task of its own, so that its slot can open another connection at once.
                work.draining.add(session)
                state.wakeSleepers()
                return pauseAfterRetirement(of: session)
            }
            return conclude(session, end)
        } catch let failure as ConnectFailure {
            return state.pause(after: failure.cause, ConnectionReport(failure.fault))
        } catch let refusal as AccountRefusal {
            // A refusal of replaced credentials is irrelevant.
            if generation == state.generation { state.stop(refusal.fault) }
            return .zero
        } catch let fault as GatewayFault {
            return state.pause(after: .unreachable, ConnectionReport(fault))
        } catch {
            return .zero
        }
    }

    /// Sends and reads until the session ends or takes no more requests. Returns `nil` in the second case: another task
    /// closes the session, so that the slot can open the next one at once.
    private func serve(_ session: HTTP2Session) async -> HTTP2Session.End? {
        while true {
            if let end = session.read({ apply($0, of: session) }) ?? session.tick({ apply($0, of: session) }) {
                return end
            }
            if let source = work.configuration.tokenSource, session.generation == state.generation {
                await session.refreshToken(from: source, work.logger)
            }
            if isOver(session) { return nil }
            do {
                if state.mayWrite { try fill(session) }
            } catch {
                return .lost(GatewayFault("encryption failed: \(error)"))
            }
            let permitDeadline = state.flush(session)
            count(session)
            // Computed before the check of the queue below, so that the check sees tokens that the rate adds meanwhile.
            let rateDeadline = state.rateDeadline(for: work.queue[session.route].announcedCount)
            if permitDeadline == nil, work.queue[session.route].gives(atMost: work.allowance(session)) {
                session.wake()
            }
            state.reportIfDue()
            if await session.wait(until: [state.reportBy, rateDeadline], orFor: permitDeadline).contains(.cancelled) {
                return await session.leave()
            }
        }
    }

    /// Waits for the last answers of a session that takes no more requests, and closes it.
    func serveToTheEnd(_ number: Int) async {
        guard let session = work.draining.byNumber[number] else { return }
        var end: HTTP2Session.End?
        while end == nil {
            let doubtBefore = session.doubtCount
            end = session.read { apply($0, of: session) } ?? session.tick { apply($0, of: session) }
            if end == nil, session.doubtCount == 0 {
                await session.close()
                end = .closed
            }
            guard end == nil else { break }
            if session.doubtCount < doubtBefore { work.sessions[session.slot]?.wake() }
            let permitDeadline = state.flush(session)
            count(session)
            state.reportIfDue()
            if await session.wait(until: [state.reportBy], orFor: permitDeadline).contains(.cancelled) {
                end = await session.leave()
            }
        }
        await session.part()
        work.draining.remove(number)
        // With nothing in doubt, it does not matter which side closed the connection.
        if let end { restAhead = max(restAhead, conclude(session, session.doubtCount == 0 ? .closed : end)) }
        work.sessions[session.slot]?.wake()
    }

    /// Whether a session must take no more requests.
    private func isOver(_ session: HTTP2Session) -> Bool {
        session.isRetired || session.isOld || session.generation != state.generation || !state.mayConnect
    }

    /// Writes as much of the queue as the session has room for. Overdue notifications get their outcome instead.
    private func fill(_ session: HTTP2Session) throws {
        let route = session.route
        let (now, pausingBefore) = (Instant(.now, .now), work.queue[route].pausingCount)
        defer {
            state.announce(work.queue[route].takeUnannounced())
            state.collect(work.queue[route].takePausedCounts())
            state.withdraw(work.queue[route].takeWithdrawn())
        }
        while let batch = work.queue[route].next(atMost: work.allowance(session)) {
            if let outcome = batch.lateness(at: now) {
                let settlement = Settlement(batch, outcome)
                work.queue[route].forget(settlement)
                state.deliver([settlement])
                if work.queue[route].hasHeldWork { state.wakeSleepers() }
                continue
            }
            var rest = batch
            // Runs after a failed write too, and puts back the remainder.
            defer {
                state.spend(batch.count - rest.count)
                if !rest.isEmpty { work.queue[route].putBack(rest) }
            }
            try session.write(&rest)
            if !rest.isEmpty { break }
        }
        try session.encryptRequests()
        work.wakeSubmitters()
        // The sleepers set a timer for notifications that back off because their token is held, or open another connection.
        if work.queue[route].pausingCount > pausingBefore
            || session.isExhausted && !work.queue[route].isBlocked
                && work.sessions.keys.count(where: { $0.route == route }) < work.configuration.connectionLimit
        {
            state.wakeSleepers()
        }
    }
}

extension Batch {
    /// The outcome of notifications that have waited too long to be sent; `nil` if they have not.
    fileprivate func lateness(at now: Instant) -> Outcome? {
        if attributes.expiration.hasPassed(at: now.wall) { return .expired }
        guard let giveUpAt, giveUpAt <= now.moment else { return nil }
        return .unsent(Refusal(.givenUp, .later))
    }
}

extension HTTP2Wire {
    /// Applies a session's news: reports outcomes, requeues the rest, and meets the demands on the credentials.
    private func apply(_ news: SessionNews, of session: HTTP2Session) {
        guard !news.isEmpty else { return }
        session.note(news)
        let isCurrent = session.generation == state.generation
        let (route, now) = (session.route, Instant(.now, .now))
        let consequences = work.queue[route].apply(news, from: session.origin, at: now, using: &state.random)
        // Complaints about replaced credentials are irrelevant.
        if isCurrent { for demand in consequences.demands { meet(demand, of: session) } }
        let wasOnTrial = state.isOnTrial
        // What was accepted together with complaints refutes them.
        state.collect(consequences.settlements)
        if wasOnTrial, !state.isOnTrial { work.queue.hurry(at: .now) }
        state.collect(work.queue[route].takePausedCounts())
        state.withdraw(work.queue[route].takeWithdrawn())
        if isCurrent {
            judge(news, consequences)
            let backOff = work.configuration.connectBackOff
            if session.isFailing, !session.isRetired, trouble.mayReplace(at: .now, backOff, using: &state.random) {
                session.retire(.failing)
            }
        }
        if let farewell = news.farewell { note(farewell, of: session) }
        if news.hasWork { work.wakeAll() }
    }

    /// Stops the app if the answers say so; warns of those that leave notifications unsent.
    private func judge(_ news: SessionNews, _ consequences: RequestQueue.Consequences) {
        restAhead = max(restAhead, consequences.rest ?? .zero)
        let (told, stopping) = trouble.record(news, at: .now)
        if let told { state.report(.troubled(fault(told), pause: nil)) }
        if let stopping { state.stop(fault(stopping)) }
        state.judge(hasOthers: work.queue.hasWork || work.unansweredCount > 0)
    }

    /// What to report about an answer, with a hint for the operator.
    private func fault(_ reply: Reply) -> GatewayFault {
        guard reply.isGenuine else {
            return GatewayFault(
                "status \(reply.status) with a body that is not \(work.configuration.service.owner)'s: \"\(reply.excerpt)\"",
                hint: "check gateway: and proxy:; the server there is not a push gateway")
        }
        return GatewayFault("the gateway answered \(reply.name) (status \(reply.status))", hint: reply.hint)
    }

    /// Adds the session's answer times and change of notifications in doubt to the meter.
    private func count(_ session: HTTP2Session) {
        session.handOverAnswerTimes(to: state.meter)
        state.count(session)
    }

    private func meet(_ demand: RequestQueue.Demand, of session: HTTP2Session) {
        switch demand {
        case .replace: session.retire(.refused)
        case .renewToken:
            session.retire(.expiredToken)
            expired = session.token.map { ($0, true) }
            // What comes back must not go out with the same token again. Tokens of our own making are replaced in time.
            guard work.configuration.tokenSource?.isRemote == true else { break }
            for other in work.sessions.values where other.token == session.token { other.retire(.expiredToken) }
        case .renewTokenUnlessNew:
            guard work.configuration.tokenSource?.isRemote == true else { break }
            session.retire(.expiredToken)
            if expired?.token != session.token { expired = session.token.map { ($0, false) } }
        case .pace(let reply, let length): state.hold(fault(reply), for: length)
        case .accuse(let reply, let job):
            state.refused(job, fault(reply), work.queue[session.route].holdPause(of: job), blamesApp: true)
            // Another connection may accept what this one refuses.
            if reply.status == 403 { session.retire(.forbidden) }
        case .warn(let reply, let job): state.refused(job, fault(reply), work.queue[session.route].holdPause(of: job))
        }
    }

    /// Handles a GOAWAY: the gateway accepts no more streams on this connection.
    private func note(_ farewell: SessionNews.GoAwayInfo, of session: HTTP2Session) {
        work.logger.debug(
            "gateway sent GOAWAY", metadata: ["code": "\(farewell.code)", "text": "\(farewell.text)"])
        if let accusation = farewell.accusation, session.generation == state.generation {
            state.stop(accusation.fault)
        }
        session.wake()
    }

    /// Handles the notifications left by the end of a session, and returns the pause before the next connect.
    private func conclude(_ session: HTTP2Session, _ end: HTTP2Session.End) -> Duration {
        apply(session.conclude(), of: session)
        count(session)
        state.reportOutcomes()
        var report = session.report(end.fault)
        if session.generation == state.generation {
            state.note(doubtOf: &report, acceptedCount: session.acceptedCount)
        }
        switch end {
        case .closed:
            if !session.isEndedWell { report.fault = session.retirement }
            report.isRoutine = report.doubtfulCount + report.unknownCount == 0
            restAhead = max(restAhead, report.pause)
            if !report.isRoutine || report.resentCount > 0 { state.report(.disconnected(report)) }
            return .zero
        case .lost where session.generation != state.generation, .refused where session.generation != state.generation:
            state.report(.disconnected(report))
            return .zero
        case .refused: return state.pause(after: .refused, report)
        case .lost where session.token == nil && !session.isReady && !state.hasAcceptance:
            report.fault = .unwanted(report.fault.message)
            return state.pause(after: .refused, report)
        case .lost: return state.pause(after: .lost, report)
        }
    }

    /// Returns the pause after a session stopped taking requests. A session that accepted something or reached `maxAge`,
    /// has no overdue answer, only got failures of the server, or has an old token, counts as answered. If the gateway asked
    /// for another connection in an answer, which may be one job's fault, it counts as a failure; any other as lost.
    private func pauseAfterRetirement(of session: HTTP2Session) -> Duration {
        guard session.generation == state.generation, state.mayConnect else { return .zero }
        var report = session.report(session.retirement)
        report.isRoutine = session.isEndedWell
        let isPlanned = session.isOld || session.isIdle || [.oldToken, .failing].contains(session.retirementReason)
        let isGood = (session.acceptedCount > 0 || isPlanned) && !session.isOverdue
        let isRefused = session.retirementReason == .refused && !state.isOnTrial
        let failure: ConnectPolicy.Cause = isRefused ? .serverError : .lost
        let pause = state.pause(after: isGood ? .answered : failure, report)
        defer { restAhead = .zero }
        return max(restAhead, pause)
    }
}

extension HTTP2Wire {
    /// Returns the current token, or `nil` when a certificate is the identity.
    ///
    /// - Throws: `AccountRefusal`; `GatewayFault`; `CancellationError`.
    private func currentToken() async throws -> BearerToken? {
        guard let source = work.configuration.tokenSource else { return nil }
        guard let expired else { return try await source.current(at: .now) }
        do {
            let token = try await source.renew(after: expired.token, at: .now)
            if self.expired?.token == expired.token { self.expired = nil }
            return token
        } catch is AccountRefusal where !expired.blamesAccount {
            // The token is too new to be replaced, and accepted perhaps; if there is none, the refusal comes again.
            return try await source.current(at: .now)
        }
    }
}

extension Accusation {
    /// What to report about a gateway that closes the connection with an accusation.
    fileprivate var fault: GatewayFault {
        GatewayFault("the gateway closed the connection: \(word)", hint: hint)
    }
}

extension HTTP2Session.End {
    /// The reason as a message.
    var fault: GatewayFault {
        switch self {
        case .lost(let fault), .refused(let fault): fault
        case .closed: GatewayFault("closed")
        }
    }
}
