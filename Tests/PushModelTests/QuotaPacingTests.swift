import PushModel
import Testing

/// How an app goes on after its quota was used up.
struct QuotaPacingTests {
    private static let rate = Rate(1_000)

    /// Sends as much as is allowed, at most so many a second in steps of a tenth, and returns the sums of each second.
    private func send(
        _ pacing: inout QuotaPacing, seconds: Range<Int>, atMost pace: Int = .max, from start: Moment = .zero
    ) -> [Int] {
        seconds.map { second in
            (0..<10).reduce(0) { sum, step in
                let now = start + .milliseconds(1_000 * second + 100 * step)
                let count = min(pacing.available(at: now), pace / 10)
                pacing.record(count, at: now)
                return sum + count
            }
        }
    }

    @Test func `without a refusal there is no limit`() {
        var pacing = QuotaPacing()
        let counts = send(&pacing, seconds: 0..<3, atMost: 5_000)
        #expect(counts == [5_000, 5_000, 5_000])
        #expect(pacing.available(at: .zero + .seconds(3)) == .max)
    }

    @Test func `nothing is sent until the hold ends, then half the pace, and all of it after a minute`() {
        var pacing = QuotaPacing()
        _ = send(&pacing, seconds: 0..<10, atMost: 1_000)
        let now = Moment.zero + .seconds(10)
        let isNews1 = pacing.refused(for: .seconds(30), rate: Self.rate, at: now)
        #expect(isNews1)
        let held = send(&pacing, seconds: 10..<40, atMost: 100_000)
        #expect(held.allSatisfy { $0 == 0 })
        #expect(pacing.next(at: now) == .zero + .seconds(40))
        let ramp = send(&pacing, seconds: 40..<100, atMost: 100_000)
        #expect((350...650).contains(ramp[0]) && (700...800).contains(ramp[30]), "\(ramp)")
        #expect(
            (900...1_000).contains(ramp[58]) && zip(ramp.dropFirst(), ramp.dropFirst(2)).allSatisfy { $1 >= $0 - 15 })
        #expect(pacing.available(at: .zero + .seconds(101)) == .max)
    }

    @Test func `refusals during the hold only lengthen it`() {
        var pacing = QuotaPacing()
        _ = send(&pacing, seconds: 0..<10, atMost: 1_000)
        let isNews2 = pacing.refused(for: .seconds(30), rate: Self.rate, at: .zero + .seconds(10))
        #expect(isNews2)
        let isNews3 = pacing.refused(for: .seconds(5), rate: Self.rate, at: .zero + .seconds(11))
        #expect(!isNews3)
        #expect(pacing.next(at: .zero + .seconds(11)) == .zero + .seconds(40))
        let isNews4 = pacing.refused(for: .seconds(60), rate: Self.rate, at: .zero + .seconds(12))
        #expect(!isNews4)
        #expect(pacing.next(at: .zero + .seconds(12)) == .zero + .seconds(72))
    }

    @Test func `a refusal while the pace grows halves it again`() {
        var pacing = QuotaPacing()
        _ = send(&pacing, seconds: 0..<10, atMost: 1_000)
        _ = pacing.refused(for: .seconds(10), rate: Self.rate, at: .zero + .seconds(10))
        _ = send(&pacing, seconds: 20..<22)
        let isNews5 = pacing.refused(for: .seconds(10), rate: Self.rate, at: .zero + .seconds(22))
        #expect(isNews5)
        let ramp = send(&pacing, seconds: 32..<34)
        #expect((150...400).contains(ramp[1]), "\(ramp)")
    }

    /// After an hour of silence the pace is that of the burst, not that of the hour.
    @Test func `the pace is that of the last seconds`() {
        var pacing = QuotaPacing()
        _ = send(&pacing, seconds: 3_600..<3_602, atMost: 1_000)
        _ = pacing.refused(for: .seconds(1), rate: Self.rate, at: .zero + .seconds(3_602))
        let count = send(&pacing, seconds: 3_603..<3_604)[0]
        #expect((350...650).contains(count))
    }

    /// Google's rule is from nothing to the most in a minute: here 150 a second more each second.
    @Test(arguments: [
        // What was written each second before, and what may be written in these seconds after the hold.
        (pace: 1, rate: Rate(9_000), counts: [0: 58...64, 1: 205...213, 9: 1_390...1_430, 59: 8_850...9_000]),
        (pace: 1, rate: nil, counts: [0: 65...70, 59: 9_850...10_000]),
        (pace: 1, rate: Rate(6, per: .minute), counts: [0: 0...1, 59: 0...1]),
        (pace: 5_000, rate: Rate(9_000), counts: [0: 2_200...2_300, 10: 2_850...3_000, 30: 4_500...4_600]),
        (pace: 9_000, rate: Rate(9_000), counts: [0: 4_000...4_150, 59: 8_850...9_000]),
        (pace: 9_000, rate: Rate(100), counts: [0: 4_000...4_150, 59: 8_850...9_000]),
    ])
    func `the pace grows from half of it, or from nothing if that is faster`(
        pace: Int, rate: Rate?, counts: [Int: ClosedRange<Int>]
    ) {
        var pacing = QuotaPacing()
        if pace > 10 { _ = send(&pacing, seconds: 0..<10, atMost: pace) } else { pacing.record(pace, at: .zero) }
        _ = pacing.refused(for: .seconds(5), rate: rate, at: .zero + .seconds(10))
        let sent = send(&pacing, seconds: 15..<75)
        for (second, count) in counts { #expect(count.contains(sent[second]), "\(second): \(sent[second])") }
    }

    @Test func `the next moment allows one more`() {
        var pacing = QuotaPacing()
        _ = send(&pacing, seconds: 0..<10, atMost: 20)
        _ = pacing.refused(for: .seconds(1), rate: Self.rate, at: .zero + .seconds(10))
        var now = Moment.zero + .seconds(11)
        for _ in 0..<200 {
            if pacing.available(at: now) > 0 { pacing.record(1, at: now) }
            let next = pacing.next(at: now)
            #expect(next > now && pacing.available(at: next) > 0)
            now = next
        }
        #expect(now < .zero + .seconds(60))
    }

    @Test func `a new configuration ends the hold`() {
        var pacing = QuotaPacing()
        _ = pacing.refused(for: .seconds(600), rate: Self.rate, at: .zero)
        pacing.end()
        #expect(pacing.available(at: .zero) == .max)
    }
}
