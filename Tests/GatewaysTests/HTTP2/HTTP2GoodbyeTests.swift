import APNSHTTP2
import APNSModel
import GatewaySimulator
import Gateways
import PushModel
import Testing

/// What a GOAWAY says besides that the connection ends.
@Suite(.timeLimit(.minutes(10)))
struct HTTP2GoodbyeTests {
    /// The reasons that stop an app when they come with a GOAWAY.
    private static let stopping = Reason.allCases.filter { $0.failureClass == .app }

    @Test(arguments: stopping)
    func `a goodbye for a fault of the app stops it, and keeps what was not taken`(reason: Reason) async throws {
        let script = "nth=1 goaway undone=1 reason=\(reason.rawValue)"
        try await HTTP2Plan(script) { $0.stopPause = .seconds(3600) }.run { bench in
            try await bench.submit(1)
            try await bench.collect { !$0.stops.isEmpty }
            #expect(bench.record.stops.map(\.message) == ["the gateway closed the connection: \(reason.rawValue)"])
            #expect(bench.record.stops.first?.hint == reason.hint && reason.hint != nil)
            while await bench.gateway.pendingInDoubt > 0 { await Task.yield() }
            #expect(await bench.gateway.remove(Sample.job).flatMap(\.indices) == [0])
            #expect(bench.record.outcomes.isEmpty)
        }
    }

    @Test(arguments: [
        "reason=Shutdown", "reason=InternalServerError", "reason=NeverHeardOf", "reason=BadDeviceToken", "text=",
        "code=7 text=Maximum.active.streams.violated", "code=2 text=null", "code=11 text=[1]", "text={\"reason\":5}",
    ])
    func `a goodbye for any other reason, or in words, only costs the connection`(goodbye: String) async throws {
        try await HTTP2Plan("nth=5 goaway undone=2 \(goodbye)").run { bench in
            try await bench.submit(20)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 20 && bench.record.stops.isEmpty)
            let ledger = await bench.simulator.ledger
            #expect(ledger.connectionCount == 2 && ledger.duplicates.isEmpty)
        }
    }

    @Test(arguments: [
        ("code=11 text=too_many_pings", "GOAWAY ENHANCE_YOUR_CALM \"too_many_pings\"", false),
        ("code=2 text=", "GOAWAY INTERNAL_ERROR", false), ("code=99 text=odd", "GOAWAY error 99 \"odd\"", false),
        ("reason=Shutdown", "GOAWAY NO_ERROR \"{\"reason\":\"Shutdown\"}\"", true),
    ])
    func `the end of a connection tells how it was announced`(
        goodbye: String, words: String, isRoutine: Bool
    ) async throws {
        try await HTTP2Plan("nth=5 goaway undone=2 \(goodbye)").run { bench in
            try await bench.submit(20)
            try await bench.settle()
            let report = try #require(bench.record.reports.first)
            #expect(report.fault.message.hasSuffix(": \(words)"), "\(report)")
            #expect(report.isRoutine == isRoutine, "\(report)")
        }
    }

    @Test func `a goodbye that is announced first loses and doubles nothing`() async throws {
        try await HTTP2Plan("nth=50 goaway notice=50ms").run { bench in
            try await bench.submit(200)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 200 && bench.record.doubtfulCount == 0)
            #expect(await bench.simulator.ledger.duplicates.isEmpty)
        }
    }
}
