import GatewaySimulator
import TestSupport
import Testing

/// Deaths at every single file operation.
@Suite(.serialized) struct SweepTests {
    @Test(arguments: ["http2", "binary"])
    func `a death at any file operation loses nobody and doubles few`(wire: String) async throws {
        let hits = try await Sweep.run(step: 3, quick: 2) { number in
            try await Bench.running(.init(wire: wire)) { bench in
                try bench.dropTwenty()
                let isHit = try await bench.run(to: Failpoint(number: number, action: .kill))
                let verdict = try await bench.judge("A1 kill9-sweep \(wire) at \(number)")
                #expect(verdict.isGood, "\(verdict)")
                return isHit
            }
        }
        report("A1 kill9-sweep \(wire): \(hits) deaths")
        #expect(hits > 1, "the daemon has no failpoints, or ended before them")
    }

    @Test func `a second and a third death while the first is made good lose nobody`() async throws {
        var generator = SeededGenerator(seed: seed)
        let points = (0..<trials(2, full: 300)).map { _ in
            (0..<3).map { Int.random(in: 1...($0 == 0 ? 500 : 250), using: &generator) }
        }
        for numbers in points {
            try await Bench.running { bench in
                try bench.dropTwenty()
                var deaths = 0
                for number in numbers {
                    deaths += try await bench.run(to: Failpoint(number: number, action: .kill)) ? 1 : 0
                }
                // Two deaths may fall on the reading of one file, which is held then.
                try await bench.finishReleasing()
                let verdict = try await bench.judge("A2 kill9-in-recovery \(numbers), \(deaths) deaths")
                #expect(verdict.isGood, "\(verdict)")
            }
        }
    }
}
