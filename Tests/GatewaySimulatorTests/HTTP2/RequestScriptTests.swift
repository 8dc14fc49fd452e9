import PushModel
import Testing

@testable import GatewaySimulator

/// What a script makes of requests.
struct RequestScriptTests {
    private static let sample = SampleRequest()

    private func bench(_ script: String, requests: Int, manner: HTTP2Manner = .init()) throws -> RequestBench {
        var bench = try RequestBench(script, manner: manner)
        bench.request(Array(repeating: Self.sample, count: requests))
        return bench
    }

    @Test(arguments: [
        ("nth=2 answer", "3 410 {\"reason\":\"Unregistered\",\"timestamp\":1700000000000}"),
        ("nth=2 answer reason=BadDeviceToken", "3 400 {\"reason\":\"BadDeviceToken\"}"),
        ("nth=2 answer status=503", "3 503"),
        ("nth=2 answer status=429 reason=TooManyRequests", "3 429 {\"reason\":\"TooManyRequests\"}"),
        (
            "nth=2 answer status=410 reason=ExpiredToken timestamp=5",
            "3 410 {\"reason\":\"ExpiredToken\",\"timestamp\":5}"
        ),
        ("nth=2 answer status=404 text=<h1>Not.Found</h1>", "3 404 <h1>Not.Found</h1>"),
        ("nth=2 answer status=400 reason=NeverHeardOf", "3 400 {\"reason\":\"NeverHeardOf\"}"),
        (
            "token=abab times=1 after=1 answer status=500 reason=InternalServerError",
            "3 500 {\"reason\":\"InternalServerError\"}"
        ),
    ])
    func `any answer can be given to any request`(script: String, answer: String) throws {
        #expect(try bench(script, requests: 3).answers == ["1 200", answer, "5 200"])
    }

    @Test func `an answer can say when to come again`() throws {
        let bench = try bench("nth=1 answer status=429 retry-after=30", requests: 1)
        guard case .answer(_, let fields, _)? = bench.received.last else { throw BenchFault() }
        #expect(fields.contains("retry-after=30"))
    }

    @Test func `answers take their time, each its own`() throws {
        var bench = try bench("latency delay=100ms jitter=100ms", requests: 20)
        #expect(bench.answers.isEmpty && bench.outcomes.allSatisfy { $0 == .accepted })
        bench.pass(.milliseconds(99))
        #expect(bench.answers.isEmpty)
        bench.pass(.milliseconds(51))
        #expect(!bench.answers.isEmpty && bench.answers.count < 20)
        bench.pass(.milliseconds(51))
        #expect(bench.answers.count == 20 && bench.answers.sorted() != bench.answers)
    }

    @Test func `the newest requests can be left undone by a GOAWAY`() throws {
        var bench = try bench("nth=3 goaway undone=2 reason=Shutdown", requests: 3)
        #expect(bench.answers == ["1 200", "3 200"])
        #expect(!bench.received.contains { if case .goAway = $0 { true } else { false } })
        bench.request(Self.sample, Self.sample)
        #expect(bench.received.last == .goAway(3, 0, "{\"reason\":\"Shutdown\"}"))
        #expect(bench.outcomes == [.accepted, .accepted, .discarded, .discarded, .discarded])
        #expect(bench.isClosing)
    }

    @Test func `a GOAWAY does not wait for ever for requests to leave undone`() throws {
        var bench = try bench("nth=2 goaway undone=9", requests: 2)
        bench.pass(.milliseconds(101))
        #expect(bench.received.last == .goAway(1, 0, "{\"reason\":\"Shutdown\"}"))
    }

    @Test func `a GOAWAY that leaves nothing undone lets answers come before the end`() throws {
        var bench = try bench("nth=1 latency delay=50ms; after=2 goaway code=0 text=bye", requests: 2)
        #expect(bench.received.last == .goAway(3, 0, "bye") && !bench.isClosing)
        bench.pass(.milliseconds(50))
        #expect(bench.answers == ["1 200", "3 200"] && bench.isClosing)
    }

    @Test func `a notice goes ahead of a GOAWAY, and what comes between is accepted`() throws {
        var bench = try bench("after=1 goaway notice=200ms", requests: 1)
        #expect(bench.received.last == .goAway(0x7FFF_FFFF, 0, ""))
        bench.request(Self.sample)
        bench.pass(.milliseconds(200))
        #expect(bench.answers == ["1 200", "3 200"])
        #expect(bench.received.last == .goAway(3, 0, "{\"reason\":\"Shutdown\"}") && bench.isClosing)
    }

    @Test func `a GOAWAY with an error can end everything at once`() throws {
        let bench = try bench("after=1 latency delay=1s; after=2 goaway code=2 then=reset", requests: 2)
        #expect(bench.received.contains(.goAway(3, 2, "{\"reason\":\"Shutdown\"}")))
        #expect(bench.ending == .release(resetting: true))
        #expect(bench.answers == ["1 200"])
    }

    @Test func `every so-manieth stream can be refused`() throws {
        let bench = try bench("every=2 refuse-stream", requests: 4)
        #expect(
            bench.received.filter { if case .reset = $0 { true } else { false } } == [
                .reset(stream: 3, 7), .reset(stream: 7, 7),
            ])
        #expect(bench.outcomes == [.accepted, .discarded, .accepted, .discarded])
    }

    @Test(arguments: [
        ("close", GatewayPolicy.Step.close(until: Moment.zero + GatewayPolicy.drainTime)), ("cut", .cut),
        ("reset", .release(resetting: true)),
    ])
    func `a connection can end abruptly with some requests processed and not answered`(
        action: String, step: GatewayPolicy.Step
    ) throws {
        let bench = try bench("after=2 nth=3 withhold; after=3 nth=4 \(action)", requests: 5)
        #expect(bench.answers == ["1 200", "3 200"])
        #expect(bench.outcomes == [.accepted, .accepted, .accepted, .discarded, .discarded])
        #expect(bench.ending == step)
    }

    @Test func `a mute gateway reads and says nothing more, not even to a PING`() throws {
        var bench = try bench("after=1 mute", requests: 2)
        bench.send([0, 0, 8, 6, 0, 0, 0, 0, 0] + [UInt8](repeating: 1, count: 8))
        #expect(bench.answers == ["1 200"] && !bench.received.contains(.pong))
        #expect(bench.outcomes == [.accepted, .discarded] && bench.ending == nil)
    }

    @Test(arguments: [("", true), ("no-pong", false)])
    func `a PING can stay unanswered`(script: String, isAnswered: Bool) throws {
        var bench = try bench(script, requests: 1)
        bench.send([0, 0, 8, 6, 0, 0, 0, 0, 0] + [UInt8](repeating: 1, count: 8))
        #expect(bench.received.contains(.pong) == isAnswered && bench.answers == ["1 200"])
    }

    @Test func `settings can change at any time`() throws {
        let bench = try bench("after=1 settings streams=1 window=100 table=0 frame=20000 list=500", requests: 1)
        #expect(bench.received.contains(.settings([1: 0, 3: 1, 4: 100, 5: 20_000, 6: 500])))
    }

    @Test func `a PUSH of strange frames and an informational answer harm nothing`() throws {
        let bench = try bench("nth=1 unknown-frame; nth=2 inform status=103", requests: 2)
        #expect(bench.received.contains(.other(0xEE)))
        #expect(bench.answers == ["1 200", "3 103", "3 200"])
    }

    @Test(arguments: ["settings", "ping", "rst", "window"])
    func `a flood is as large as it is said to be`(kind: String) throws {
        let bench = try bench("after=1 flood of=\(kind) count=500", requests: 1)
        let count = bench.received.count {
            switch ($0, kind) {
            case (.settings([:]), "settings"), (.ping, "ping"), (.reset(1, 8), "rst"), (.window(0, 1), "window"): true
            default: false
            }
        }
        #expect(count == 500 && bench.answers == ["1 200"])
    }

    @Test func `a flood of CONTINUATION never ends a head`() throws {
        let bench = try bench("nth=1 flood of=continuation count=30", requests: 1)
        #expect(bench.received.count { $0 == .other(9) } == 30)
    }

    @Test func `the connection's window opens after so many bytes only`() throws {
        var manner = HTTP2Manner()
        manner.windowGrant = 60_000
        var bench = try RequestBench(manner: manner)
        let large = Self.sample.with(body: "{\"a\":\"" + String(repeating: "x", count: 3992) + "\"}")
        bench.request(Array(repeating: large, count: 14))
        #expect(!bench.received.contains { if case .window(0, _) = $0 { true } else { false } })
        bench.request(large)
        #expect(bench.received.contains(.window(0, 15 * 4000)))
    }

    @Test func `a stall reads on later`() throws {
        var bench = try bench("nth=1 stall for=1s", requests: 1)
        #expect(bench.answers == ["1 200"])
        bench.pass(.seconds(1))
        bench.request(Self.sample)
        #expect(bench.answers == ["1 200", "3 200"])
    }

    @Test(arguments: [
        ("answer code=3", "options of answer: status"), ("goaway status=3", "options of goaway: undone"),
        ("flood of=tears", "write one of settings"), ("mute for=3s", "mute has no options"),
    ])
    func `an option that an action does not have is a fault`(script: String, hint: String) throws {
        let fault = try #require(throws: FaultScript.Fault.self) { try FaultScript(script) }
        #expect(fault.hint.hasPrefix(hint))
    }

    @Test func `rules for the binary protocol do not act here, nor the other way round`() throws {
        #expect(try bench("refuse; nth=1 answer status=503", requests: 1).answers == ["1 503"])
        var binary = try PolicyBench("answer status=500; nth=1 refuse")
        binary.receive(Sample.frames([1]))
        #expect(binary.ledger.refusedCountByStatus == [8: 1])
    }
}

extension RequestBench {
    /// Whether the gateway says good-bye.
    var isClosing: Bool {
        if case .close? = ending { true } else { false }
    }
}
