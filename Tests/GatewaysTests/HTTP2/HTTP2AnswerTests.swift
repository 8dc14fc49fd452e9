import APNSHTTP2
import APNSModel
import GatewaySimulator
import Gateways
import PushModel
import Testing

/// What each reason does to its notification and to the app.
@Suite(.timeLimit(.minutes(10)))
struct HTTP2AnswerTests {
    /// The reasons of the device API that are an outcome at once.
    private static let finalReasons = Reason.allCases.filter {
        [.tokenGone, .token, .message].contains($0.failureClass)
    }

    @Test(arguments: finalReasons) func `a reason about token or message is the outcome`(reason: Reason) async throws {
        try await HTTP2Plan("nth=3 answer reason=\(reason.rawValue) status=\(reason.status)").run { bench in
            try await bench.submit(5)
            try await bench.settle()
            let refusal = bench.record.outcomes[2]?.refusal
            #expect(refusal?.reason == reason.rawValue && refusal?.status == reason.status)
            #expect(refusal?.verdict == reason.failureClass.verdict)
            #expect(bench.record.acceptedCount == 4)
        }
    }

    @Test(arguments: [
        "status=410 text=<html>Gone</html>", "status=404 text=<html>Not.Found</html>", "status=400 text=",
        "status=413 text={}", "status=405 text={\"error\":\"method\"}", "status=403 text=Forbidden",
        "status=410 text={\"reason\":\"Unregistered\"}", "status=400 text={\"reason\":5}",
    ])
    func `an answer that is not Apple's is told, and its notification is sent again`(answer: String) async throws {
        try await HTTP2Plan("nth=3 answer \(answer)").run { bench in
            try await bench.submit(5)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 5 && bench.record.stops.isEmpty)
            let fault = try #require(bench.record.troubles.first)
            let text = answer.split(separator: "text=").dropFirst().joined()
            #expect(fault.message.hasSuffix("with a body that is not Apple's: \"\(text)\""), "\(fault)")
            #expect(fault.hint?.contains("check gateway:") == true && bench.record.troubles.count == 1)
        }
    }

    @Test func `a gateway that fails is told of once, however many notifications it fails`() async throws {
        try await HTTP2Plan("times=500 answer status=503 reason=ServiceUnavailable").run { bench in
            try await bench.submit(500)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 500)
            #expect(bench.record.troubles.map(\.message) == ["the gateway answered ServiceUnavailable (status 503)"])
        }
    }

    @Test func `since when a token is gone is told`() async throws {
        try await HTTP2Plan("nth=1 answer reason=Unregistered timestamp=1700000000123").run { bench in
            try await bench.submit(1)
            try await bench.settle()
            #expect(bench.record.outcomes[0]?.refusal?.goneSince == WallTime(nanoseconds: 1_700_000_000_123_000_000))
        }
    }

    @Test(arguments: [
        Reason.internalServerError, .serviceUnavailable, .shutdown, .tooManyRequests, .idleTimeout,
        .tooManyProviderTokenUpdates, .unrelatedKeyIDInToken,
    ])
    func `a reason that asks for another try gets it`(reason: Reason) async throws {
        try await HTTP2Plan("nth=3 answer reason=\(reason.rawValue)").run { bench in
            try await bench.submit(10)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 10)
            let ledger = await bench.simulator.ledger
            #expect(ledger.refusedCount == 1 && ledger.duplicates.isEmpty)
        }
    }

    @Test(arguments: Reason.allCases.filter { $0.failureClass == .app && $0.status == 403 })
    func `a reason about the app stops it with a hint, and keeps what was not taken`(reason: Reason) async throws {
        try await HTTP2Plan("answer reason=\(reason.rawValue)") { $0.stopPause = .seconds(3600) }.run { bench in
            try await bench.submit(10)
            try await bench.collect { !$0.stops.isEmpty }
            #expect(bench.record.stops.first?.message.contains(reason.rawValue) == true)
            #expect(bench.record.stops.first?.hint != nil)
            while await bench.gateway.pendingInDoubt > 0 { await Task.yield() }
            #expect(await bench.gateway.remove(Sample.job).reduce(0) { $0 + $1.count } == 10)
            #expect(bench.record.outcomes.isEmpty)
        }
    }

    @Test func `a stopped app asks again with one notification, and goes on when it is taken`() async throws {
        let plan = HTTP2Plan("times=1 answer reason=Forbidden") { $0.stopPause = .milliseconds(300) }
        try await plan.run { bench in
            try await bench.submit(1)
            try await bench.collect { !$0.stops.isEmpty }
            try await bench.submit(99)
            try await bench.settle()
            #expect(bench.record.tryCount == 1 && bench.record.resumeCount == 1)
            #expect(await bench.simulator.ledger.acceptedCount == 100)
        }
    }

    @Test func `a bad topic of the app stops it at the third job`() async throws {
        try await HTTP2Plan("answer reason=BadTopic") { $0.stopPause = .seconds(3600) }.run { bench in
            for number in 1...5 {
                try await bench.gateway.submit(Sample.batch(0..<1, job: JobID(bits: UInt128(number))))
            }
            try await bench.collect { !$0.stops.isEmpty }
            #expect(await bench.simulator.ledger.acceptedCount == 0)
        }
    }

    /// Another job than the sample, of which the tokens begin with 0C.
    private static let refusedJob = JobID(bits: 70)

    private static func culprit(_ count: Int) -> Batch {
        Sample.batch(0x0C00_0000..<0x0C00_0000 + count, job: refusedJob)
    }

    @Test(arguments: ["Forbidden", "InvalidProviderToken", "BadTopic", "TopicDisallowed"])
    func `one job that is refused costs the others nothing`(reason: String) async throws {
        let plan = HTTP2Plan("token=0C answer reason=\(reason)") { $0.stopPause = .seconds(3600) }
        try await plan.run { bench in
            try await bench.gateway.submit(Self.culprit(50))
            try await bench.submit(500)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 500)
            let told = try #require(bench.record.refusedJobs.first)
            #expect(told.job == Self.refusedJob && told.fault.message.contains(reason) && told.pause != nil)
            #expect(bench.record.troubles.isEmpty)
            while await bench.gateway.pendingInDoubt > 0 { await Task.yield() }
            // One of them may be on a connection, to ask again.
            #expect((49...50).contains(await bench.gateway.remove(Self.refusedJob).notificationCount))
        }
    }

    @Test func `a stopped app asks at once with another job, and again when the refused one is removed`() async throws {
        let plan = HTTP2Plan("token=0C answer reason=Forbidden") { $0.stopPause = .seconds(3600) }
        try await plan.run { bench in
            try await bench.gateway.submit(Self.culprit(2))
            try await bench.collect { $0.stops.count == 1 }
            try await bench.submit(10)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 10 && bench.record.resumeCount == 1)
            await bench.reconfigure(bench.configuration)
            try await bench.collect { $0.stops.count == 2 }
            let tries = bench.record.tryCount
            #expect(await bench.gateway.remove(Self.refusedJob).notificationCount == 2)
            try await bench.collect { $0.tryCount == tries + 1 }
        }
    }

    @Test(arguments: ["connection=1 answer status=500", "connection=1 answer reason=ServiceUnavailable"])
    func `a connection that answers 5xx to everything is replaced`(script: String) async throws {
        let plan = HTTP2Plan(script)
        try await plan.run { bench in
            try await bench.submit(200)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 200)
            let report = try #require(bench.record.reports.first)
            #expect(report.fault.message.contains("server errors") && !report.isRoutine)
            #expect(await bench.simulator.ledger.connectionCount == 2)
        }
    }

    @Test func `a server that cuts every connection after a hundred requests causes no pause`() async throws {
        let plan = HTTP2Plan("nth=101 per=connection cut") {
            $0.connectBackOff = BackOff(first: .seconds(3600), ceiling: .seconds(3600))
        }
        try await plan.run { bench in
            try await bench.submit(5000)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 5000 && bench.record.reports.allSatisfy { $0.pause == .zero })
        }
    }

    @Test func `429 holds one token and not the others`() async throws {
        let plan = HTTP2Plan("token=00000003 times=2 answer reason=TooManyRequests")
        try await plan.run { bench in
            try await bench.submit(20)
            try await bench.collect { $0.acceptedCount == 19 }
            #expect(bench.record.outcomes[3] == nil)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 20)
        }
    }

    @Test func `mostly bad tokens are told as the wrong environment, once`() async throws {
        try await HTTP2Plan("answer reason=BadDeviceToken").run { bench in
            try await bench.submit(200)
            try await bench.collect { $0.outcomes.count == 200 && $0.suspicionCount > 0 }
            #expect(bench.record.suspicionCount == 1)
            #expect(bench.record.stops.isEmpty)
        }
    }
}
