import PushModel
import TestSupport
import Testing

struct BackOffTests {
    @Test(arguments: [(-5, 1), (0, 1), (1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (8, 60), (1000, 60), (Int.max, 60)])
    func `a pause lies between half and all of a doubling one`(failures: Int, full: Int) {
        let backOff = BackOff(first: .seconds(1), ceiling: .seconds(60))
        for seed in UInt64(0)..<50 {
            var random = SeededGenerator(seed: seed)
            let pause = backOff.pause(after: failures, using: &random)
            #expect((.seconds(full) / 2 ... .seconds(full)).contains(pause), "seed \(seed)")
        }
    }

    @Test(arguments: [
        (BackOff(first: .seconds(1), ceiling: .seconds(60)), [1, 2, 4, 8, 16, 32, 60, 60]),
        (BackOff(first: .seconds(900), ceiling: .seconds(14_400)), [900, 1800, 3600, 7200, 14_400, 14_400]),
    ])
    func `pauses without jitter double up to the ceiling`(backOff: BackOff, seconds: [Int]) {
        #expect((1...seconds.count).map { backOff.longestPause(after: $0) } == seconds.map { .seconds($0) })
    }

    @Test func `pauses are spread`() {
        let backOff = BackOff(first: .seconds(1), ceiling: .seconds(60))
        var random = SeededGenerator(seed: 7)
        #expect(Set((0..<100).map { _ in backOff.pause(after: 3, using: &random) }).count > 90)
    }

    @Test func `the longest durations do not overflow`() {
        let longest = Duration(secondsComponent: .max, attosecondsComponent: 0)
        let backOff = BackOff(first: .seconds(86_400 * 365), ceiling: longest)
        var random = SeededGenerator(seed: 1)
        for failures in [1, 2, 10, 60, 64, 1_000_000] {
            #expect(backOff.pause(after: failures, using: &random) > .zero)
        }
    }

    @Test(arguments: [(Duration.zero, Duration.zero), (.seconds(-1), .seconds(-1)), (.seconds(-9), .zero)])
    func `no pause is negative`(first: Duration, ceiling: Duration) {
        var random = SeededGenerator(seed: 1)
        #expect(BackOff(first: first, ceiling: ceiling).pause(after: 3, using: &random) == .zero)
    }

    @Test func `a ceiling below the first pause counts as the first pause`() {
        var random = SeededGenerator(seed: 1)
        let backOff = BackOff(first: .seconds(10), ceiling: .seconds(1))
        #expect((.seconds(5) ... .seconds(10)).contains(backOff.pause(after: 5, using: &random)))
    }
}
