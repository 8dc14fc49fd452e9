import GatewaySimulator
import Gateways
import PushModel
import Testing

/// Every status of an error reply, over TLS.
@Suite(.timeLimit(.minutes(10)))
struct StatusTests {
    @Test(
        arguments: [
            (2, "MissingDeviceToken", .invalid), (4, "PayloadEmpty", .message), (5, "InvalidTokenSize", .invalid),
            (7, "PayloadTooLarge", .message), (8, "BadDeviceToken", .invalid),
        ] as [(Int, String, Verdict)])
    func `a refusal rejects the named one and no other`(status: Int, reason: String, verdict: Verdict) async throws {
        try await BenchPlan("nth=3 refuse status=\(status)").run { bench in
            try await bench.submit(10)
            try await bench.settle()
            #expect(bench.record.outcomes[2] == .rejected(Refusal(status: status, reason: reason, verdict: verdict)))
            #expect(bench.record.acceptedCount == 9)
            #expect(Sample.accepted(await bench.simulator.ledger) == [0, 1, 3, 4, 5, 6, 7, 8, 9])
            #expect(bench.record.doubtfulCount == 0)
        }
    }

    @Test(arguments: [1, 9, 128, 255])
    func `a fault of the gateway is tried again, behind the rest of its job, a frame it cannot parse in order`(
        status: Int
    ) async throws {
        try await BenchPlan("nth=3 refuse status=\(status) times=1").run { bench in
            try await bench.submit(10)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 10)
            let order = status == 128 ? Array(0..<10) : [0, 1, 3, 4, 5, 6, 7, 8, 9, 2]
            #expect(Sample.accepted(await bench.simulator.ledger) == order)
            #expect(bench.record.doubtfulCount == 0)
        }
    }

    @Test(arguments: [1, 9, 128, 255])
    func `a notification that fails the gateway three times is rejected`(status: Int) async throws {
        try await BenchPlan("token=00000002 refuse status=\(status)").run { bench in
            try await bench.submit(10)
            try await bench.settle()
            #expect(bench.record.outcomes[2]?.refusal?.verdict == .message)
            #expect(bench.record.outcomes[2]?.refusal?.status == status)
            let ledger = await bench.simulator.ledger
            #expect(ledger.refusedCountByStatus == [UInt8(status): 3])
            #expect(Sample.accepted(ledger) == [0, 1, 3, 4, 5, 6, 7, 8, 9])
        }
    }

    @Test(arguments: [1, 42, 255])
    func `jobs that fail the gateway cost others no pause`(status: Int) async throws {
        let script = (0..<6).map { "token=0000000\($0) refuse status=\(status)" }.joined(separator: "; ")
        let plan = BenchPlan(script) { $0.connectBackOff = BackOff(first: .seconds(3600), ceiling: .seconds(3600)) }
        try await plan.run { bench in
            try await bench.gateway.submit(Sample.batch(0..<3, job: JobID(bits: 1)))
            try await bench.gateway.submit(Sample.batch(3..<6, job: JobID(bits: 2)))
            try await bench.gateway.submit(Sample.batch(6..<16, job: JobID(bits: 3)))
            try await bench.collect { $0.acceptedCount == 10 }
            #expect(bench.record.indices("accepted") == Array(6..<16) && bench.record.stops.isEmpty)
            #expect(bench.record.reports.allSatisfy { $0.pause == .zero })
        }
    }

    @Test func `status 0 accepts the named one`() async throws {
        try await BenchPlan("nth=3 refuse status=0").run { bench in
            try await bench.submit(10)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 10)
            #expect(Sample.accepted(await bench.simulator.ledger) == [0, 1, 3, 4, 5, 6, 7, 8, 9])
        }
    }

    @Test(arguments: ["after=3 shutdown times=1", "nth=3 refuse status=10", "after=3 shutdown delay=200ms times=1"])
    func `a shutdown refuses nothing`(script: String) async throws {
        try await BenchPlan(script).run { bench in
            try await bench.submit(10)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 10)
            #expect(Sample.accepted(await bench.simulator.ledger) == Array(0..<10))
            #expect(bench.record.reports.map(\.resentCount) == [7])
            #expect(bench.record.doubtfulCount == 0)
        }
    }

    @Test(arguments: [3, 6])
    func `a fault of the app stops it until it is configured anew`(status: Int) async throws {
        try await BenchPlan("nth=1 refuse status=\(status)").run { bench in
            try await bench.submit(10)
            try await bench.collect { !$0.stops.isEmpty }
            #expect(bench.record.stops[0].hint != nil)
            #expect(bench.record.outcomes.isEmpty)
            await bench.reconfigure(bench.configuration)
            try await bench.collect { $0.resumeCount == 1 }
            #expect(bench.record.tryCount == 1 && bench.record.acceptedCount == 1)
            try await bench.settle()
            #expect(Sample.accepted(await bench.simulator.ledger).sorted() == Array(0..<10))
        }
    }

    @Test func `a late fault of what was replaced does not stop the app`() async throws {
        let plan = BenchPlan("nth=3 refuse status=3 delay=1s times=1") { $0.confirmation = .silence(.seconds(4)) }
        try await plan.run { bench in
            try await bench.submit(3)
            _ = try await bench.simulator.ledger { $0.arrivedCount == 3 }
            await bench.reconfigure(bench.configuration)
            try await bench.settle()
            #expect(bench.record.stops.isEmpty)
            #expect(Sample.accepted(await bench.simulator.ledger) == [0, 1, 2])
        }
    }

    @Test func `a stopped app with nothing left to send says when it may have more`() async throws {
        let plan = BenchPlan("nth=1 refuse status=3") { $0.stopPause = .milliseconds(500) }
        try await plan.run { bench in
            try await bench.submit(1)
            try await bench.collect { $0.stops.count == 1 }
            #expect(await bench.gateway.remove(Sample.job).count == 1)
            try await bench.collect { $0.tryCount == 1 }
            try await bench.submit(1)
            try await bench.collect { $0.resumeCount == 1 }
            #expect(bench.record.outcomes[1] == .accepted)
        }
    }

    @Test func `a stopped app asks again by itself with one notification`() async throws {
        let plan = BenchPlan("nth=1 refuse status=3; nth=2 refuse status=6") { $0.stopPause = .milliseconds(200) }
        try await plan.run { bench in
            try await bench.submit(10)
            try await bench.settle()
            #expect(bench.record.stops.count == 2)
            #expect(bench.record.resumeCount == 1)
            let ledger = await bench.simulator.ledger
            #expect(ledger.entries(ofConnection: 2).count == 1)
            #expect(Sample.accepted(ledger).sorted() == Array(0..<10))
        }
    }
}
