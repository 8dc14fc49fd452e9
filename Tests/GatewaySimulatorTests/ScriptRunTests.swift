import Testing

@testable import GatewaySimulator

/// When rules fit.
struct ScriptRunTests {
    /// Sends ten notifications on each of three connections and returns the identifiers that were not accepted.
    private func refused(_ script: String, format: String = "") throws -> [UInt32] {
        var bench = try PolicyBench(script)
        for connection in 0..<3 {
            if connection > 0 { bench.reconnect() }
            bench.receive(Sample.frames((1...10).map { connection * 10 + $0 }))
        }
        return bench.ledger.refused.map { $0.identifier ?? 0 }
    }

    @Test(
        arguments: [
            ("nth=3 refuse", [3]), ("nth=3 per=connection refuse", [3, 13, 23]), ("every=4 refuse", [4, 14, 24]),
            ("every=4 refuse times=2", [4, 14]), ("connection=2 refuse", [11]), ("connection=2- refuse", [11, 21]),
            ("after=9 refuse", [10, 20, 30]), ("token=abababababababababab refuse times=1", [1]),
            ("token=cd refuse", []), ("nth=9 refuse;nth=5 refuse", [5, 14]), ("nth=2 refuse\nrefuse", [1, 11, 21]),
            ("token=ab after=4 nth=2 refuse", []), ("payload=alert connection=3 refuse", [21]),
            ("payload=missing refuse", []), ("probability=0 refuse", []), ("probability=1 times=1 refuse", [1]),
        ] as [(String, [UInt32])])
    func `rules fit as they say`(script: String, expected: [UInt32]) throws {
        #expect(try refused(script) == expected)
    }

    @Test func `the same seed throws the same dice`() throws {
        let script = "probability=0.2 seed=7 refuse"
        #expect(try refused(script) == refused(script))
        #expect(try refused(script) != refused("probability=0.2 seed=8 refuse"))
    }

    @Test func `connections are counted for rules about them`() throws {
        var run = ScriptRun(try FaultScript("every=2 refuse-connection times=2"), on: .binary)
        #expect((1...6).map { run.connecting($0) != nil } == [false, true, false, true, false, false])
    }
}
