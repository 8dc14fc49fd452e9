import JournalModel
import PushModel
import SpoolModel
import TestSupport
import Testing

/// Which lines of an earlier daemon are told again.
struct ResumptionTests {
    private func result(_ number: Int, _ ranges: [Range<Int>], isCorrection: Bool = false) -> JournalResult {
        JournalResult(.expired, ranges, at: WallTime(nanoseconds: Int64(number)), isCorrection: isCorrection)
    }

    /// The same in the plainest way: a look at everything.
    private func parts(of results: [JournalResult], in indices: Range<Int>) -> [(JournalResult, Range<Int>)] {
        results.flatMap { result in
            result.ranges.map { $0.clamped(to: indices) }.filter { !$0.isEmpty }
                .sorted { $0.lowerBound < $1.lowerBound }.map { (result, $0) }
        }
    }

    @Test func `every part is found, in the order of the results, corrections too`() {
        for seed in UInt64(0)..<500 {
            var random = SeededGenerator(seed: seed)
            let results = (0..<Int.random(in: 0..<8, using: &random)).map { number in
                let ranges = (0..<Int.random(in: 0..<6, using: &random)).map { _ in
                    let start = Int.random(in: 0..<100, using: &random)
                    return start..<start + Int.random(in: 0..<20, using: &random)
                }
                return result(number, IndexRuns(ranges).runs, isCorrection: Bool.random(using: &random))
            }
            let resumption = Resumption(doubtful: IndexRuns(), untold: results, final: nil)
            for _ in 0..<20 {
                let start = Int.random(in: 0..<130, using: &random)
                let indices = start..<start + Int.random(in: 0..<30, using: &random)
                let found = resumption.untold(in: indices)
                let expected = parts(of: results, in: indices)
                #expect(found.map(\.result) == expected.map(\.0), "seed \(seed)")
                #expect(found.map(\.range) == expected.map(\.1), "seed \(seed)")
            }
        }
    }

    @Test func `each of very many lines is found without a look at all`() {
        // A look at all of them for each would take hours.
        let count = 200_000
        let ranges = (0..<count).map { 2 * $0..<2 * $0 + 1 }
        let results = stride(from: 0, to: count, by: 500).map { result($0, Array(ranges[$0..<$0 + 500])) }
        let resumption = Resumption(doubtful: IndexRuns(), untold: results, final: nil)
        #expect((0..<2 * count).reduce(0) { $0 + resumption.untold(in: $1..<$1 + 1).count } == count)
    }
}
