import JournalModel
import SpoolModel
import TestSupport
import Testing

struct IndexRunsTests {
    @Test func `runs say the same as a set`() {
        for seed in UInt64(0)..<UInt64(trials(100, full: 300)) {
            var random = SeededGenerator(seed: seed)
            var (runs, model) = (IndexRuns(), Set<Int>())
            for _ in 0..<80 {
                let start = Int.random(in: 0..<120, using: &random)
                let range = start..<start + Int.random(in: 0..<20, using: &random)
                let before = model.count
                if Bool.random(using: &random) {
                    model.formUnion(range)
                    #expect(runs.insert(range) == model.count - before, "seed \(seed)")
                } else {
                    model.subtract(range)
                    #expect(runs.subtract(range) == before - model.count, "seed \(seed)")
                }
                #expect(check(runs, model) && checkParts(runs, model, range), "seed \(seed)")
            }
        }
    }

    /// Sorted, never empty, never touching, and the same indices.
    private func check(_ runs: IndexRuns, _ model: Set<Int>) -> Bool {
        let pairs = zip(runs.runs, runs.runs.dropFirst())
        return runs.count == model.count && runs.isEmpty == model.isEmpty && runs.runs.allSatisfy { !$0.isEmpty }
            && pairs.allSatisfy { $0.upperBound < $1.lowerBound } && Set(runs.runs.joined()) == model
            && (0..<150).allSatisfy { runs.contains($0) == model.contains($0) }
    }

    private func checkParts(_ runs: IndexRuns, _ model: Set<Int>, _ range: Range<Int>) -> Bool {
        runs.intersection(range).flatMap { Array($0) } == model.intersection(range).sorted()
    }

    @Test func `a job settled in order stays one run`() {
        var runs = IndexRuns(0..<10_000_000)
        for start in stride(from: 0, to: 10_000_000, by: 10_000) {
            #expect(runs.runs.count == 1)
            runs.subtract(start..<start + 10_000)
        }
        #expect(runs.isEmpty)
    }

    @Test func `runs in any order melt into the same set`() {
        #expect(IndexRuns([5..<7, 0..<2, 2..<5, 9..<9, 1..<3]).runs == [0..<7])
    }
}
