import PushModel
import TestSupport
import Testing

/// A list of batches against an array of names, which is what it stands for.
struct BatchListTests {
    @Test func `no run of operations tells a list from an array`() {
        for seed in UInt64(0)..<300 {
            var random = SeededGenerator(seed: seed)
            var (list, model): (BatchList, [Name]) = (BatchList(), [])
            for step in 0..<100 {
                apply(Int.random(in: 0..<5, using: &random), to: &list, and: &model, using: &random)
                #expect(list.count == model.count, "seed \(seed) step \(step)")
                #expect(list.isEmpty == model.isEmpty && list.first?.names.first == model.first, "seed \(seed)")
            }
            #expect(list.takeAll().flatMap(\.names) == model, "seed \(seed)")
        }
    }

    private func apply(
        _ operation: Int, to list: inout BatchList, and model: inout [Name], using random: inout SeededGenerator
    ) {
        switch operation {
        case 0:
            let batch = someBatch(using: &random)
            list.append(batch)
            model += batch.names
        case 1:
            let batches = (0..<Int.random(in: 0..<4, using: &random)).map { _ in someBatch(using: &random) }
            list.prepend(batches)
            model = batches.flatMap(\.names) + model
        case 2 where Int.random(in: 0..<10, using: &random) == 0:
            let job = Int.random(in: 1..<4, using: &random)
            let taken = list.takeAll { $0.job.bits == UInt128(job) }
            #expect(taken.flatMap(\.names) == model.filter { $0.job == job })
            model.removeAll { $0.job == job }
        default:
            let limit = [0, 1, 2, 5, .max].randomElement(using: &random) ?? 0
            let taken = list.takeFirst(limit)?.names ?? []
            #expect(taken.count <= limit && taken == Array(model.prefix(taken.count)))
            #expect(!taken.isEmpty || limit == 0 || model.isEmpty)
            model.removeFirst(taken.count)
        }
    }

    private func someBatch(using random: inout SeededGenerator) -> Batch {
        let start = Int.random(in: 0..<1000, using: &random)
        return .named(start..<start + Int.random(in: 0..<6, using: &random), job: Int.random(in: 1..<4, using: &random))
    }

    @Test func `taking without a limit takes the batch in front, wherever its indices begin`() {
        var list = BatchList()
        list.append(.named(1000..<1010))
        #expect(list.takeFirst(.max)?.indices == 1000..<1010)
        #expect(list.takeFirst(.max)?.indices == nil)
    }

    @Test func `emptied lists can be used again`() {
        var list = BatchList()
        for index in 0..<200 {
            list.append(.named(index..<index + 1))
            list.append(.named(index..<index))
            #expect(list.takeFirst(5)?.indices == index..<index + 1)
        }
        #expect(list.isEmpty && list.first == nil && list.takeAll().isEmpty)
    }
}
