import GatewaySimulator
import Gateways
import PushModel
import TestSupport
import Testing

/// What gateways count for whoever wants to know.
@Suite(.timeLimit(.minutes(10)))
struct MeterTests {
    @Test func `each answer over HTTP/2 counts once, on whichever connection it came`() async throws {
        try await HTTP2Plan("every=250 goaway undone=3; every=10 answer reason=BadDeviceToken").run { bench in
            try await bench.submit(2_000)
            try await bench.settle()
            let meter = bench.gateway.events.meter
            try await eventually("nothing in flight") { meter.inFlightCount == 0 }
            #expect(meter.answerTimes.count == 2_000)
            #expect(meter.connectionCount >= 1)
        }
    }

    @Test func `requests without an answer are in flight`() async throws {
        var plan = HTTP2Plan()
        plan.manner.latency = .seconds(600)
        try await plan.run { bench in
            let meter = bench.gateway.events.meter
            #expect(meter.connectionCount == 0)
            try await bench.submit(100)
            try await eventually("all in flight") { meter.inFlightCount == 100 }
            #expect(meter.connectionCount == 1 && meter.answerTimes.count == 0)
        }
    }

    @Test func `the binary protocol has what is in flight, and no answers`() async throws {
        try await BenchPlan("nth=300 refuse status=8") { $0.confirmation = .silence(.seconds(3)) }.run { bench in
            let meter = bench.gateway.events.meter
            try await bench.submit(1_000)
            try await eventually("some in flight") { meter.inFlightCount > 0 }
            try await bench.settle()
            try await eventually("nothing in flight") { meter.inFlightCount == 0 }
            #expect(meter.connectionCount == 1 && meter.answerTimes.count == 0)
        }
    }
}
