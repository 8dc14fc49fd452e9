import Testing

/// Sessions against nghttp2's server, which checks every frame, over memory.
struct GatewayPairTests {
    @Test(arguments: 1...4) func `a gateway that changes its mind gets each notification once`(seed: UInt64) {
        var mischief = GatewayMischief()
        mischief.goAwayEvery = 900
        mischief.refusedStreamEvery = 301
        mischief.settingsEvery = 307
        mischief.serverErrorEvery = 1_009
        mischief.tableByteCounts = [0, 256, 4_096]
        mischief.streamWindows = [30, 100, 70_000]
        mischief.connectionWindow = 70_000
        let pair = GatewayPair(5_000, mischief, seed: seed)
        pair.run(atMost: 60)
        #expect(pair.stallCount == 0, "seed \(seed)")
        #expect(pair.violations.isEmpty, "seed \(seed)")
        #expect(pair.faults.isEmpty, "seed \(seed)")
        #expect(pair.settledCount == 5_000 && pair.unsaidLengths.isEmpty, "seed \(seed)")
        #expect(pair.acceptedCounts.count == 5_000 && pair.acceptedCounts.values.allSatisfy { $0 == 1 }, "seed \(seed)")
    }

    @Test func `a gateway that behaves needs one connection`() {
        let pair = GatewayPair(2_000, GatewayMischief(), seed: 1)
        pair.run(atMost: 10)
        #expect(pair.settledCount == 2_000)
        #expect(pair.connectionCount == 1)
        #expect(pair.violations.isEmpty)
    }

    @Test func `each request says how long its body is`() {
        var mischief = GatewayMischief()
        mischief.payloadByteCounts = [1, 9, 10, 99, 100, 999, 1_000, 4_096]
        // The long ones wait for windows.
        mischief.streamWindows = [50, 70_000]
        mischief.settingsEvery = 307
        let pair = GatewayPair(2_000, mischief, seed: 1)
        pair.run(atMost: 10)
        #expect(pair.settledCount == 2_000 && pair.unsaidLengths.isEmpty && pair.violations.isEmpty)
    }
}
