import GatewaySimulator
import Gateways
import PushHTTP2
import PushModel
import ServiceProcess
import Testing

/// A gateway and a simulated FCM, over TLS: what the app, a connection or a message does at each of Google's answers.
@Suite(.timeLimit(.minutes(10)))
struct FCMGatewayTests {
    @Test func `only UNREGISTERED says that a token is gone`() async throws {
        var plan = FCMPlan("port=fcm nth=1 answer status=404")
        plan.rules.unregistered = [FCMPlan.token(3)]
        try await plan.run { bench, _ in
            try await bench.send(10)
            let refusal = bench.record.outcomes[3]?.refusal
            #expect(refusal?.verdict == .gone && refusal?.reason == "UNREGISTERED" && refusal?.status == 404)
            #expect(refusal?.goneSince == nil && bench.record.acceptedCount == 9 && bench.record.stops.isEmpty)
            #expect(await bench.simulator.ledger.duplicates.isEmpty)
        }
    }

    @Test func `a used-up quota holds all of the app, which goes on slowly`() async throws {
        let plan = FCMPlan("port=fcm nth=1 answer quota=project retry-after=1") {
            ($0.window, $0.rate) = (20, Rate(1_000))
            $0.pauses.later = BackOff(first: .seconds(1), ceiling: .seconds(1))
        }
        try await plan.run { bench, _ in
            let (meter, start) = (bench.gateway.events.meter, WallTime.now)
            try await bench.begin(40)
            try await bench.collect { !$0.troubles.isEmpty }
            #expect(try #require(meter.quotaHoldEnd(at: start)) > start + .milliseconds(500))
            try await bench.settle()
            #expect(meter.quotaHoldEnd(at: .now) == nil)
            #expect(bench.record.acceptedCount == 40 && bench.record.stops.isEmpty)
            #expect(bench.record.troubles.count == 1, "\(bench.record.troubles)")
            #expect(bench.record.troubles.first?.message.contains("QUOTA_EXCEEDED") == true)
            let times = await bench.simulator.ledger.entries.map { Double($0.epochNanoseconds) / 1e9 }
            // One was written before. Then the pace grows by 17 a second in each second, so that 40 take two seconds.
            #expect(times[1] - times[0] >= 1 && times[40] - times[0] >= 2.5, "\(times.map { $0 - times[0] })")
        }
    }

    @Test func `a quota of one device holds that address alone`() async throws {
        let plan = FCMPlan("port=fcm address=\(FCMPlan.token(3)) times=2 answer quota=device")
        try await plan.run { bench, _ in
            try await bench.send(10)
            let ledger = await bench.simulator.ledger
            #expect(
                bench.record.acceptedCount == 10
                    && ledger.refused.map(\.addressText) == [FCMPlan.token(3), FCMPlan.token(3)])
            #expect(ledger.accepted.last?.addressText == FCMPlan.token(3))
        }
    }

    @Test func `the end of an idle connection costs nothing and is no news`() async throws {
        try await FCMPlan("port=fcm nth=50 goaway").run { bench, _ in
            try await bench.send(50)
            try await bench.send(50)
            let ledger = await bench.simulator.ledger
            #expect(bench.record.acceptedCount == 100 && ledger.duplicates.isEmpty)
            #expect(
                bench.record.reports.allSatisfy { $0.isRoutine && $0.pause == .zero }, "\(bench.record.reports)")
            #expect(Set(ledger.entries.map(\.connection)).count == 2)
        }
    }

    @Test func `a message that FCM cannot take now waits as long as it is told`() async throws {
        let plan = FCMPlan("port=fcm nth=3 answer reason=UNAVAILABLE retry-after=1") {
            $0.pauses.serverError = BackOff(first: .milliseconds(100), ceiling: .seconds(60))
        }
        try await plan.run { bench, _ in
            try await bench.send(10)
            let tries = await bench.simulator.ledger.entries.filter { $0.addressText == FCMPlan.token(2) }
            #expect(bench.record.acceptedCount == 10 && tries.count == 2)
            #expect(tries[1].epochNanoseconds - tries[0].epochNanoseconds >= 1_000_000_000)
        }
    }

    @Test func `a refused stream is sent again without doubt`() async throws {
        try await FCMPlan("port=fcm every=10 times=5 refuse-stream").run { bench, _ in
            try await bench.send(100)
            #expect(bench.record.acceptedCount == 100 && bench.record.doubtfulCount == 0)
            #expect(await bench.simulator.ledger.duplicates.isEmpty)
        }
    }

    @Test func `a connection takes a hundred streams, and the rest goes over others`() async throws {
        var plan = FCMPlan { $0.connectionLimit = 4 }
        plan.manner.latency = .milliseconds(500)
        try await plan.run { bench, source in
            try await bench.send(400)
            let ledger = await bench.simulator.ledger
            #expect(bench.record.acceptedCount == 400 && ledger.duplicates.isEmpty && ledger.violations.isEmpty)
            #expect(Set(ledger.entries.map(\.connection)).count > 1 && source.fetchCount == 1)
        }
    }

    @Test func `a message to a topic whose answer is lost is reported, and not sent again`() async throws {
        try await FCMPlan("port=fcm nth=1 withhold").run { bench, _ in
            try await bench.gateway.submit(FCMPlan.batch(to: ["weather"], .topic, onDoubt: .report))
            bench.skip(to: 1)
            _ = try await bench.simulator.ledger { $0.arrivedCount > 0 }
            await bench.simulator.dropConnections(resetting: true)
            try await bench.settle()
            #expect(bench.record.outcomes[0] == .unknown)
            #expect(await bench.simulator.ledger.accepted.map(\.addressText) == ["weather"])
        }
    }
}
