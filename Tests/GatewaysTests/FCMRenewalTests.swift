import GatewaySimulator
import PushHTTP2
import PushModel
import ServiceProcess
import Synchronization
import TestSupport
import Testing

@testable import Gateways

/// What a gateway does with messages whose access token FCM refuses, or for which there is none at the moment.
@Suite(.timeLimit(.minutes(10)))
struct FCMRenewalTests {
    /// When a token was fetched that is old enough for another: one that is less than a minute old is not renewed.
    private var earlier: WallTime { WallTime(epochSeconds: WallTime.now.epochSeconds - 120) }

    @Test func `an access token that has expired is renewed once, and nothing is lost or doubled`() async throws {
        try await FCMPlan().run { bench, source in
            _ = try await source.current(at: earlier)
            try await bench.send(50)
            await bench.simulator.expireAccessTokens()
            try await bench.sendUnlessStopped(300)
            #expect(bench.record.acceptedCount == 350 && bench.record.stops.isEmpty && source.fetchCount == 2)
            let ledger = await bench.simulator.ledger
            #expect(ledger.duplicates.isEmpty && ledger.refusedCount > 0 && ledger.violations.isEmpty)
        }
    }

    @Test func `late refusals of a replaced token are not taken for refusals of its successor`() async throws {
        var plan = FCMPlan()
        plan.manner.latency = .milliseconds(500)
        try await plan.run { bench, source in
            let old = try await source.current(at: earlier)
            try await bench.send(10)
            await bench.simulator.expireAccessTokens()
            try await bench.begin(10)
            _ = try await bench.simulator.ledger { $0.refusedCount == 10 }
            _ = try await source.renew(after: old, at: .now)
            try await bench.sendUnlessStopped(10)
            #expect(bench.record.acceptedCount == 30 && bench.record.stops.isEmpty && source.fetchCount == 2)
            #expect(await bench.simulator.ledger.refusedCount == 10)
        }
    }

    @Test func `what was refused with a dead token is not sent with it over another connection`() async throws {
        var plan = FCMPlan { $0.connectionLimit = 4 }
        plan.manner.latency = .milliseconds(500)
        try await plan.run { bench, source in
            _ = try await source.current(at: earlier)
            // A busy machine opens them late.
            while Set(await bench.simulator.ledger.accepted.map(\.connection)).count < 3 { try await bench.send(400) }
            await bench.simulator.expireAccessTokens()
            try await bench.sendUnlessStopped(10)
            #expect(bench.record.acceptedCount == bench.submittedCount && bench.record.stops.isEmpty)
            #expect(bench.record.refusedJobs.isEmpty && source.fetchCount == 2)
            let ledger = await bench.simulator.ledger
            #expect(Set(ledger.refused.map(\.addressText)).count == ledger.refusedCount)
        }
    }

    /// The first two tries are refused with any token, and the second token dies after the second one.
    @Test func `a job that was refused twice asks with a third token`() async throws {
        let plan = FCMPlan("port=fcm address=\(FCMPlan.token(10)) times=2 answer reason=ACCESS_TOKEN_EXPIRED") {
            $0.pauses.serverError = BackOff(first: .milliseconds(100), ceiling: .seconds(3))
        }
        try await plan.run { bench, source in
            let held = HeldTokenSource(source)
            held.setClock(behind: 300)
            await bench.reconfigure(with: held)
            try await bench.send(10)
            held.setClock(behind: 200)
            try await bench.begin(1)
            try await bench.collect { !$0.refusedJobs.isEmpty }
            await bench.simulator.expireAccessTokens()
            held.setClock(behind: 100)
            try await bench.collect { $0.outcomes.count == 11 || $0.refusedJobs.count > 1 }
            #expect(bench.record.acceptedCount == 11 && bench.record.stops.isEmpty && source.fetchCount == 3)
        }
    }

    @Test func `a job that was refused twice asks with the same token while that is new`() async throws {
        let plan = FCMPlan("port=fcm address=\(FCMPlan.token(10)) times=3 answer reason=ACCESS_TOKEN_EXPIRED")
        try await plan.run { bench, source in
            _ = try await source.current(at: earlier)
            try await bench.send(10)
            try await bench.sendUnlessStopped(1)
            #expect(bench.record.acceptedCount == 11 && bench.record.stops.isEmpty && source.fetchCount == 2)
        }
    }

    @Test func `answers are read while a token is fetched`() async throws {
        var plan = FCMPlan()
        plan.manner.latency = .milliseconds(300)
        try await plan.run { bench, source in
            let held = HeldTokenSource(source)
            await bench.reconfigure(with: held)
            try await bench.send(1)
            try await bench.begin(10)
            _ = try await bench.simulator.ledger { $0.arrivedCount == 11 }
            held.hold()
            try await bench.begin(1)
            try await bench.collect { $0.outcomes.count == 11 }
            #expect(bench.record.acceptedCount == 11)
            held.release()
            try await bench.settle()
            #expect(bench.record.acceptedCount == 12 && bench.record.reports.allSatisfy(\.isRoutine))
        }
    }

    @Test func `a late refusal of replaced credentials does not stop those that replaced them`() async throws {
        try await FCMPlan().run { bench, source in
            let held = HeldTokenSource(source)
            held.hold()
            await bench.reconfigure(with: held)
            try await bench.begin(1)
            try await eventually("a request for a token") { held.waiterCount == 1 }
            await bench.reconfigure(with: source)
            held.release(throwing: AccountRefusal(fault: GatewayFault("the account is disabled")))
            try await bench.sendUnlessStopped(1)
            #expect(bench.record.acceptedCount == 2 && bench.record.stops.isEmpty)
        }
    }
}

extension Bench<HTTP2Wire.Configuration> {
    /// Hands over messages to so many more registration tokens, and waits until all have an outcome, or the app stops.
    fileprivate func sendUnlessStopped(_ count: Int) async throws {
        try await begin(count)
        let total = submittedCount
        try await collect { $0.outcomes.count == total || !$0.stops.isEmpty }
    }

    /// Uses another source of tokens.
    fileprivate func reconfigure(with source: any TokenSource) async {
        var configuration = configuration
        configuration.tokenSource = source
        await reconfigure(configuration)
    }
}

/// The tokens of another source, which a test withholds for a while, as if the token endpoint were slow, or which get older
/// when it says so.
private final class HeldTokenSource: TokenSource {
    private struct State {
        var isHeld = false
        var waiters: [CheckedContinuation<AccountRefusal?, Never>] = []
        var delay: Int64 = 0
    }

    private let source: any TokenSource
    private let state = Mutex(State())

    init(_ source: any TokenSource) { self.source = source }

    /// The number of requests that wait for a token.
    var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Has no token from now on.
    func hold() { state.withLock { $0.isHeld = true } }

    /// Has tokens again; requests that wait fail with the refusal, if there is one.
    func release(throwing refusal: AccountRefusal? = nil) {
        let waiters = state.withLock { state in
            defer { (state.isHeld, state.waiters) = (false, []) }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: refusal) }
    }

    /// How many seconds the source's clock is behind: less than before makes its tokens older.
    func setClock(behind seconds: Int64) { state.withLock { $0.delay = seconds } }

    private func time(at now: WallTime) -> WallTime {
        WallTime(epochSeconds: now.epochSeconds - state.withLock { $0.delay })
    }

    var isRemote: Bool { true }

    func token(at now: WallTime) -> BearerToken? {
        state.withLock { $0.isHeld } ? nil : source.token(at: time(at: now))
    }

    func current(at now: WallTime) async throws -> BearerToken {
        try await wait()
        return try await source.current(at: time(at: now))
    }

    func renew(after failed: BearerToken, at now: WallTime) async throws -> BearerToken {
        try await wait()
        return try await source.renew(after: failed, at: time(at: now))
    }

    private func wait() async throws {
        let refusal = await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                if state.isHeld { state.waiters.append(continuation) }
                return state.isHeld
            }
            if !isHeld { continuation.resume(returning: nil) }
        }
        if let refusal { throw refusal }
    }
}
