import PushModel
import Report
import SpoolModel
import TestSupport
import Testing

/// What plots stand on: parts of a time, steps of a scale.
struct PlotScaleTests {
    @Test(arguments: [
        (0, 60, 1), (3600, 60, 60), (5400, 60, 90), (86_400, 900, 96), (604_800, 7200, 84), (2_592_000, 43_200, 60),
        (31_536_000, 604_800, 53), (3_153_600_000, 62_899_200, 51),
    ])
    func `a span is cut into at most 96 parts of a usual length`(seconds: Int, width: Int, count: Int) {
        let buckets = TimeBuckets(since: noon + .seconds(-seconds), until: noon)
        #expect(buckets.widthInSeconds == Int64(width) && buckets.count == count)
        #expect((1...9).contains(buckets.ticks.count))
    }

    @Test func `every time of a span is in the part that it is in, and no other is`() {
        for seed in UInt64(0)..<300 {
            var random = SeededGenerator(seed: seed)
            let since = WallTime(epochSeconds: Int64.random(in: -3_000_000_000...3_000_000_000, using: &random))
            let length = Int64.random(in: 1...Int64.random(in: 1...400_000_000, using: &random), using: &random)
            let buckets = TimeBuckets(since: since, until: since + .seconds(length))
            let time = since + .milliseconds(Int64.random(in: 0..<length * 1000, using: &random))
            let index = buckets.index(of: time) ?? -1
            #expect((0..<buckets.count).contains(index), "seed \(seed)")
            #expect(buckets.start(of: index) <= time && time < buckets.start(of: index + 1), "seed \(seed)")
            #expect(buckets.index(of: since + .nanoseconds(-1)) == nil, "seed \(seed)")
            #expect(buckets.index(of: since + .seconds(length)) == nil, "seed \(seed)")
        }
    }

    @Test func `a length of time is shared among the parts that it is in`() {
        for seed in UInt64(0)..<300 {
            var random = SeededGenerator(seed: seed)
            let buckets = TimeBuckets(since: noon + .seconds(-86_400), until: noon)
            let end = noon + .milliseconds(-Int64.random(in: 1...86_400_000, using: &random))
            let length = Int64.random(in: 0...Int64.random(in: 1...200_000_000, using: &random), using: &random)
            let begin = end + .milliseconds(-length)
            var (sum, last) = (0.0, -1)
            buckets.share(from: begin, to: end) { index, share in
                #expect(index > last && share > 0, "seed \(seed)")
                (sum, last) = (sum + share, index)
            }
            let isWhole = abs(sum - 1) < 1e-9
            #expect(isWhole == (begin >= buckets.start(of: 0)) && sum < 1 + 1e-9, "seed \(seed)")
            #expect(last == buckets.index(of: end) || last + 1 == buckets.index(of: end), "seed \(seed)")
        }
    }

    @Test func `marks of days are dates, and those between are times of day`() {
        let week = TimeBuckets(since: noon + .seconds(-604_800), until: noon)
        #expect(week.ticks.first?.label == "11-15" && week.ticks.last?.label == "11-21")
        let night = TimeBuckets(since: noon + .seconds(-54_000), until: noon + .seconds(-32_400))
        #expect(night.ticks.map(\.label) == ["21:00", "22:00", "23:00", "11-21", "01:00", "02:00", "03:00"])
        #expect(night.ticks.first?.fraction == 0 && night.ticks.last?.fraction == 1)
    }

    @Test(
        arguments: [
            (0, true, [0, 1]), (1, true, [0, 1]), (4, true, [0, 1, 2, 3, 4]), (5, true, [0, 2, 4, 6]),
            (41, true, [0, 20, 40, 60]), (287_000, true, [0, 100_000, 200_000, 300_000]), (2.5, false, [0, 1, 2, 3]),
            (.nan, false, [0, 0.5, 1]), (.infinity, true, [0, 1]), (-3, true, [0, 1]),
        ] as [(Double, Bool, [Double])])
    func `a scale ends at a round number that no value exceeds`(largest: Double, isWhole: Bool, ticks: [Double]) {
        #expect(PlotAxis(upTo: largest, isWhole: isWhole).ticks == ticks)
    }

    @Test func `a scale has few marks, and a place for all values`() {
        for seed in UInt64(0)..<500 {
            var random = SeededGenerator(seed: seed)
            let power = (0..<Int.random(in: 0...15, using: &random)).reduce(1.0) { product, _ in product * 10 }
            let largest = Double.random(in: 0.001...10, using: &random) * power
            let axis = PlotAxis(upTo: largest, isWhole: seed.isMultiple(of: 2))
            #expect(axis.top >= largest * (1 - 1e-12) && (2...6).contains(axis.ticks.count), "seed \(seed)")
            #expect(axis.fraction(of: largest) <= 1 && axis.fraction(of: -1) == 0, "seed \(seed)")
        }
    }

    @Test func `a share of many times is known to a quarter`() {
        for seed in UInt64(0)..<200 {
            var random = SeededGenerator(seed: seed)
            var (histogram, times) = (LatencyHistogram(), [Int64]())
            let limit = [10, 1000, 1_000_000, 1_000_000_000].randomElement(using: &random) ?? 10
            for _ in 0..<Int.random(in: 1...300, using: &random) {
                times.append(Int64.random(in: 1...Int64(limit), using: &random))
                histogram.add(.milliseconds(times[times.count - 1]))
            }
            times.sort()
            for share in [0.01, 0.5, 0.9, 0.99, 1] {
                let exact = Double(times[max(0, Int((share * Double(times.count)).rounded(.up)) - 1)])
                let found = (histogram.quantile(share) ?? .zero) / .milliseconds(1)
                #expect(found >= exact / 1.27 && found <= exact * 1.27, "seed \(seed): \(found), not \(exact)")
            }
            #expect(histogram.columns.reduce(0) { $0 + $1.count } == times.count, "seed \(seed)")
        }
    }

    @Test func `columns begin at 1, 2 and 5 of each power of ten`() {
        var histogram = LatencyHistogram()
        #expect(histogram.columns.isEmpty && histogram.quantile(0.5) == nil)
        for milliseconds in [-5, 0, 1, 4, 99, 100, 20_000] { histogram.add(.milliseconds(milliseconds)) }
        let wanted: [(Int, Int)] = [
            (0, 2), (1, 1), (2, 1), (5, 0), (10, 0), (20, 0), (50, 1), (100, 1), (200, 0), (500, 0), (1000, 0),
            (2000, 0), (5000, 0), (10_000, 0), (20_000, 1),
        ]
        #expect(histogram.columns.map(\.from) == wanted.map { Duration.milliseconds($0.0) })
        #expect(histogram.columns.map(\.count) == wanted.map(\.1))
        #expect(histogram.longest == .seconds(20))
        histogram.add(.seconds(3_000_000_000))
        #expect(histogram.columns.last?.from == .milliseconds(1_000_000_000) && histogram.columns.last?.count == 1)
    }
}
