import PushModel
import TestSupport
import Testing

struct HistogramTests {
    private static let bounds = [Duration.milliseconds(1), .milliseconds(10), .seconds(1)]

    @Test(arguments: [
        (Int64(-5), 0), (0, 0), (999_999, 0), (1_000_000, 0), (1_000_001, 1), (10_000_000, 1), (999_999_999, 2),
        (1_000_000_000, 2), (1_000_000_001, 3), (Int64.max, 3),
    ])
    func `a bound counts what took as long or less`(nanoseconds: Int64, bucket: Int) {
        var histogram = Histogram(bounds: Self.bounds)
        histogram.add(nanoseconds: nanoseconds)
        #expect(histogram.counts == (0...3).map { $0 == bucket ? 1 : 0 })
        #expect(histogram.count == 1 && histogram.seconds >= 0)
    }

    @Test func `several at a time count as many`() {
        var histogram = Histogram(bounds: Self.bounds)
        histogram.add(3, nanoseconds: 2_000_000)
        histogram.add(nanoseconds: 500_000_000)
        #expect(histogram.counts == [0, 3, 1, 0] && histogram.count == 4)
        #expect(abs(histogram.seconds - 0.506) < 1e-9)
    }

    @Test func `what is taken over is counted once, whoever asks when`() {
        for seed in UInt64(0)..<50 {
            var random = SeededGenerator(seed: seed)
            var (plain, whole, part) = (
                Histogram(bounds: Self.bounds), Histogram(bounds: Self.bounds), Histogram(bounds: Self.bounds)
            )
            for _ in 0..<200 {
                let count = Int.random(in: 1...9, using: &random)
                let length = Int64.random(in: 0...2_000_000_000, using: &random)
                plain.add(count, nanoseconds: length)
                part.add(count, nanoseconds: length)
                if Bool.random(using: &random) { whole.absorb(&part) }
            }
            whole.absorb(&part)
            #expect(whole.counts == plain.counts && whole.count == plain.count, "seed \(seed)")
            #expect(abs(whole.seconds - plain.seconds) < 1e-6, "seed \(seed)")
            #expect(part == Histogram(bounds: Self.bounds), "seed \(seed)")
        }
    }

    @Test(arguments: [Histogram.ofAnswers, .ofJobs, .ofSyncs])
    func `the usual bounds ascend and begin empty`(histogram: Histogram) {
        #expect(histogram.bounds == histogram.bounds.sorted() && Set(histogram.bounds).count == histogram.bounds.count)
        #expect(histogram.count == 0 && histogram.counts.count == histogram.bounds.count + 1)
    }
}
