import PushModel
import TestSupport
import Testing

struct BatchGroupsTests {
    /// A batch of so many notifications from an index on.
    private func batch(_ indices: Range<Int>) -> Batch {
        var tokens = PackedBytes()
        for index in indices { tokens.append([UInt8(truncatingIfNeeded: index)]) }
        let header = Batch.Header(job: JobID(bits: 1), attributes: Attributes())
        return Batch(
            header: header, firstIndex: indices.lowerBound, addresses: tokens, payloads: .shared(Payload(bytes: [1])))
    }

    private func groups(_ batches: [Batch], _ batchCount: Int, _ count: Int) -> [[Range<Int>]] {
        BatchGroups(batches, limits: .init(batchCount: batchCount, count: count)).map { $0.map(\.indices) }
    }

    @Test func `neighbours of one whole are one again, in whatever order they come`() {
        let whole = batch(0..<10)
        let parts = [7, 2, 3, 0, 9, 1, 8].map { whole[$0..<$0 + 1] }
        #expect(groups(parts, 9, 99) == [[0..<4, 7..<10]])
    }

    @Test func `neighbours of different wholes stay apart`() {
        #expect(groups([batch(3..<5), batch(0..<3)], 9, 99) == [[0..<3, 3..<5]])
    }

    @Test func `a long batch is cut`() {
        #expect(groups([batch(0..<10)], 9, 4) == [[0..<4], [4..<8], [8..<10]])
        #expect(groups([], 9, 4).isEmpty)
    }

    @Test func `every index comes once, in order, within the limits`() {
        for seed in UInt64(0)..<300 {
            var random = SeededGenerator(seed: seed)
            var (parts, indices, start) = ([Batch](), [Int](), 0)
            while start < 60 {
                let whole = batch(start..<start + Int.random(in: 1..<20, using: &random))
                for index in whole.indices where Bool.random(using: &random) {
                    parts.append(whole[index..<index + 1])
                    indices.append(index)
                }
                start = whole.indices.upperBound
            }
            let found = groups(parts.shuffled(using: &random), 3, 5)
            #expect(found.joined().flatMap { Array($0) } == indices, "seed \(seed)")
            #expect(
                found.allSatisfy { (1...3).contains($0.count) && $0.reduce(0) { $0 + $1.count } <= 5 }, "seed \(seed)")
        }
    }
}
