import PushModel
import TestSupport
import Testing

struct ClockHistoryTests {
    private static let hour: Int64 = 3600
    /// The wall clock at boot.
    private static let boot = WallTime(epochSeconds: 1_800_000_000)

    private static func moment(_ seconds: Int64) -> Moment { .zero + .seconds(seconds) }

    /// A history with looks at moments, in seconds since boot, and how far the wall clock was wrong then.
    private static func history(_ looks: [(at: Int64, error: Int64)]) -> ClockHistory {
        var history = ClockHistory()
        for look in looks { history.note(boot + .seconds(look.at + look.error), at: moment(look.at)) }
        return history
    }

    @Test(arguments: [
        (100, 100), (1000, 1000), (0, 0), (-5000, -5000), (2000, 1000),
    ])
    func `without a step a stamp is as old as the clock says, and none is of the future`(stamp: Int64, moment: Int64) {
        let history = Self.history([(500, 0), (1000, 0)])
        #expect(history.moment(of: Self.boot + .seconds(stamp)) == Self.moment(moment))
    }

    @Test(
        .catalogue("J77 clock-step, what a stamp says", checks: []),
        arguments: [
            // A day forward, between the looks at 1000 and 1001: before it, skipped, and after it.
            (86_400, 400, 400), (86_400, 5000, 1000), (86_400, 86_400 + 1500, 1500), (86_400, -7200, -7200),
            // A day back: stamps from before it are of the future by the clock.
            (-86_400, 400, 400), (-86_400, 1500 - 86_400, 1500), (-86_400, 999, 999),
        ] as [(Int64, Int64, Int64)])
    func `a step changes the age of no stamp`(step: Int64, stamp: Int64, moment: Int64) {
        let history = Self.history([(10, 0), (1000, 0), (1001, step), (2000, step)])
        #expect(history.moment(of: Self.boot + .seconds(stamp)) == Self.moment(moment))
    }

    @Test(arguments: [(Int64(1), false), (-1, false), (2, true), (-2, true), (86_400, true)])
    func `a step is told, a slow correction is not`(error: Int64, isStep: Bool) {
        var history = Self.history([(10, 0), (20, 0)])
        let step = history.note(Self.boot + .seconds(30 + error), at: Self.moment(30))
        #expect(step == (isStep ? .seconds(error) : nil))
        #expect(history.note(Self.boot + .seconds(40 + error), at: Self.moment(40)) == nil)
    }

    @Test func `whatever the clock does, a stamp is as old as the time that passed`() {
        for seed in UInt64(0)..<300 {
            var random = SeededGenerator(seed: seed)
            var history = ClockHistory()
            var (error, stamps) = (Int64(0), [(time: WallTime, at: Int64)]())
            for second in stride(from: Int64(0), to: 20_000, by: 10) {
                // Forward only: a time that the clock has shown twice stands for the later one.
                if Int.random(in: 0..<100, using: &random) == 0 {
                    error += Int64.random(in: 2...100_000, using: &random)
                }
                history.note(Self.boot + .seconds(second + error), at: Self.moment(second))
                stamps.append((Self.boot + .seconds(second + error), second))
            }
            for stamp in stamps.suffix(200) {
                #expect(history.moment(of: stamp.time) == Self.moment(stamp.at), "seed \(seed)")
            }
        }
    }

    @Test func `no time is too far away`() {
        let extremes = [Int64.min, -1, 0, 1, .max].map { WallTime(nanoseconds: $0) }
        for first in extremes {
            for second in extremes {
                var history = ClockHistory()
                history.note(first, at: Moment(nanoseconds: .max))
                history.note(second, at: .zero)
                for time in extremes { _ = history.moment(of: time) + .seconds(Int64.max) }
                #expect((first - second < .zero) == (first < second))
            }
        }
    }
}
