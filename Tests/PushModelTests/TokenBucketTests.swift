import PushModel
import TestSupport
import Testing

struct TokenBucketTests {
    @Test(arguments: [
        (1000, Rate.Unit.second, 4, Rate(250)), (100, .second, 1, Rate(100)),
        (10, .second, 3, Rate(12_000, per: .hour)),
        (1, .minute, 4, Rate(15, per: .hour)), (1, .hour, 5, Rate(1, per: .hour)), (7, .hour, 2, Rate(3, per: .hour)),
    ])
    func `a rate is divided among senders, and never exceeded but for the last one an hour`(
        count: Int, unit: Rate.Unit, parts: Int, share: Rate?
    ) throws {
        #expect(try #require(Rate(count, per: unit)).divided(by: parts) == share)
    }

    @Test(arguments: [0, -1, 10_000_001])
    func `a rate is a number that can be kept`(count: Int) {
        #expect(Rate(count) == nil)
    }

    @Test(arguments: [(1, Rate.Unit.hour, 2), (5, .second, 2), (500, .second, 50), (5000, .second, 500)])
    func `a burst is a tenth of a second's, and two at least`(count: Int, unit: Rate.Unit, burst: Int) {
        #expect(Rate(count, per: unit)?.burst == burst)
    }

    @Test func `a full bucket gives a burst, an empty one fills at the rate`() throws {
        let rate = try #require(Rate(100))
        let start = Moment(nanoseconds: 1_000_000_000_000)
        #expect(TokenBucket(rate).available(at: start) == 10)
        var bucket = TokenBucket(rate, emptyAt: start)
        #expect(bucket.available(at: start) == 0)
        #expect(bucket.available(at: start + .milliseconds(25)) == 2)
        #expect(bucket.available(at: start + .seconds(25)) == 10)
        bucket.record(10, at: start + .seconds(25))
        #expect(bucket.available(at: start + .seconds(25)) == 0)
    }

    @Test func `a full bucket is full however lately the machine was booted`() throws {
        let slow = try #require(Rate(1, per: .hour))
        #expect(TokenBucket(slow).available(at: .zero) == slow.burst)
        #expect(TokenBucket(slow).available(at: .zero + .seconds(5)) == slow.burst)
    }

    @Test func `asking again is worth while for one that waits, or for a fifth of a burst`() throws {
        let start = Moment(nanoseconds: 1_000_000_000_000)
        let bucket = TokenBucket(try #require(Rate(1000)), emptyAt: start)
        #expect(bucket.next(for: 1) == start + .milliseconds(1))
        #expect(bucket.next(for: 1_000_000) == start + .milliseconds(20))
    }

    @Test func `no more goes than a burst and the rate, and no less than 99 percent of it`() throws {
        for seed in UInt64(0)..<300 {
            var random = SeededGenerator(seed: seed)
            let unit = Rate.Unit.allCases.randomElement(using: &random) ?? .second
            let count = Int.random(in: 1...10_000, using: &random)
            let rate = try #require(Rate(count, per: unit))
            let start = Moment(nanoseconds: 1_000_000_000_000)
            let (taken, time) = Self.saturate(TokenBucket(rate, emptyAt: start), from: start, using: &random)
            let due = Double(count) * (time / unit.duration)
            #expect(Double(taken) <= due + Double(rate.burst), "seed \(seed): \(taken) of \(due)")
            #expect(Double(taken) >= due * 0.99 - 1, "seed \(seed): \(taken) of \(due)")
        }
    }

    /// Takes whatever there is, each time somewhat later than the bucket says, and says how much came in which time.
    private static func saturate(
        _ full: TokenBucket, from start: Moment, using random: inout SeededGenerator
    ) -> (taken: Int, time: Duration) {
        var (bucket, now, taken) = (full, start, 0)
        for _ in 0..<2000 {
            now = max(now, bucket.next(for: .random(in: 1...5000, using: &random)))
            now = now + .microseconds(Int.random(in: 0...20_000, using: &random))
            let count = bucket.available(at: now)
            bucket.record(count, at: now)
            taken += count
        }
        return (taken, now - start)
    }
}
