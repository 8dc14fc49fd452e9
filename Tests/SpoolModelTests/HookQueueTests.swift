import JobFormat
import PushModel
import SpoolModel
import TestSupport
import Testing

struct HookQueueTests {
    private static func name(_ number: Int) throws -> FileName {
        try #require(FileName("f" + String(1_000_000 + number)))
    }

    @Test func `what is in the folder goes first, then what is published, in order`() throws {
        var queue = HookQueue(after: try Self.name(3))
        #expect(queue.next(at: .zero) == .list)
        queue.listed([try Self.name(5), try Self.name(4)], isAll: true)
        queue.published(try Self.name(6))
        for number in 4...6 {
            let step = queue.next(at: .zero)
            #expect(step == .run(try Self.name(number)))
            queue.ended(.taken, at: .zero)
        }
        #expect(queue.next(at: .zero) == .wait(until: nil))
        #expect(queue.last == (try Self.name(6)))
    }

    @Test func `a file that fails comes again after pauses that double up to a ceiling, and the next ones wait`() throws
    {
        var queue = HookQueue(after: nil)
        _ = queue.next(at: .zero)
        queue.listed([try Self.name(1), try Self.name(2)], isAll: true)
        var (now, pauses): (Moment, [Duration]) = (.zero, [])
        for _ in 0..<12 {
            queue.ended(.failed, at: now)
            guard case .wait(let until?) = queue.next(at: now) else { return #expect(Bool(false), "no pause") }
            pauses.append(until - now)
            now = until
            let step = queue.next(at: now)
            #expect(step == .run(try Self.name(1)))
        }
        #expect(pauses.prefix(4) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        #expect(pauses.last == HookQueue.ceiling)
        queue.ended(.refused, at: now)
        #expect(queue.next(at: now) == .run(try Self.name(2)))
        #expect(queue.failureCount == 0)
    }

    @Test func `a file that is not for the hook lets the next one pass, and is not remembered`() throws {
        var queue = HookQueue(after: try Self.name(1))
        _ = queue.next(at: .zero)
        queue.listed([try Self.name(2), try Self.name(3)], isAll: true)
        queue.ended(.failed, at: .zero)
        queue.ended(.skipped, at: .zero)
        #expect(queue.last == (try Self.name(1)))
        #expect(queue.failureCount == 0)
        let step = queue.next(at: .zero)
        #expect(step == .run(try Self.name(3)))
        queue.ended(.taken, at: .zero)
        #expect(queue.last == (try Self.name(3)))
    }

    @Test func `a listing that has missed a file does not go past it`() throws {
        var queue = HookQueue(after: nil)
        _ = queue.next(at: .zero)
        queue.published(try Self.name(2))
        queue.published(try Self.name(3))
        queue.listed([try Self.name(1), try Self.name(3)], isAll: true)
        #expect(queue.next(at: .zero) == .run(try Self.name(1)))
        queue.ended(.taken, at: .zero)
        #expect(queue.next(at: .zero) == .list)
        queue.listed([try Self.name(3), try Self.name(2)], isAll: true)
        for number in 2...3 {
            let step = queue.next(at: .zero)
            #expect(step == .run(try Self.name(number)))
            queue.ended(.taken, at: .zero)
        }
        #expect(queue.next(at: .zero) == .wait(until: nil))
    }

    @Test func `a folder that cannot be listed is listed again later`() {
        var queue = HookQueue(after: nil)
        _ = queue.next(at: .zero)
        queue.notListed(at: .zero)
        let pause = queue.next(at: .zero)
        #expect(pause == .wait(until: Moment.zero + HookQueue.ceiling))
        let step = queue.next(at: Moment.zero + HookQueue.ceiling)
        #expect(step == .list)
    }

    @Test func `the first names of many are kept`() throws {
        var random = SeededGenerator(seed: 1)
        for count in [0, 1, 9, 10, 11, 19, 20, 21, 1000] {
            let all = try (0..<count).map(Self.name)
            var names = LeastElements<FileName>(limit: 10)
            var keptCount = 0
            for name in all.shuffled(using: &random) where names.mayKeep(name) {
                names.add(name)
                keptCount += 1
            }
            #expect(count <= 100 || keptCount < count / 2, "\(keptCount) of \(count)")
            #expect(names.sorted == Array(all.prefix(10)))
            #expect(names.isWhole == (count <= 10), "\(count)")
        }
    }

    /// A folder, a daemon that publishes in it and dies now and then, and a hook that fails now and then.
    private struct Run {
        var random: SeededGenerator
        var queue = HookQueue(after: nil)
        var folder: Set<FileName> = []
        var count = 0
        var taken: [FileName] = []
        var removed: Set<FileName> = []
        var now = Moment.zero
        /// What a listing will bring that has begun.
        var listing: [FileName]?

        init(seed: UInt64) { random = SeededGenerator(seed: seed) }

        mutating func publish() throws {
            let name = try HookQueueTests.name(count)
            count += 1
            folder.insert(name)
            queue.published(name)
        }

        mutating func step(mayFail: Bool) throws {
            if let found = listing, Bool.random(using: &random) {
                var first = LeastElements<FileName>(limit: 7)
                for name in found where first.mayKeep(name) { first.add(name) }
                queue.listed(first.sorted, isAll: first.isWhole)
                listing = nil
            }
            switch mayFail ? Int.random(in: 0..<20, using: &random) : 19 {
            case 0..<6: try publish()
            case 6:
                guard let name = folder.randomElement(using: &random) else { return }
                folder.remove(name)
                removed.insert(name)
            case 7 where listing == nil:
                queue = HookQueue(after: queue.last)
            default:
                guard listing == nil else { return }
                switch queue.next(at: now) {
                case .list: listing = folder.filter { name in queue.last.map { $0 < name } ?? true }
                case .run(let name):
                    if !folder.contains(name) {
                        queue.ended(.gone, at: now)
                    } else if mayFail, Int.random(in: 0..<4, using: &random) == 0 {
                        queue.ended(.failed, at: now)
                    } else {
                        taken.append(name)
                        queue.ended(.taken, at: now)
                    }
                case .wait(let moment?): now = moment
                case .wait(nil): return
                }
            }
        }
    }

    @Test func `whatever fails, ends and is removed, each file is taken once and in order`() throws {
        for seed in UInt64(0)..<300 {
            var run = Run(seed: seed)
            for _ in 0..<400 { try run.step(mayFail: true) }
            for _ in 0..<4000 { try run.step(mayFail: false) }
            #expect(run.taken == run.taken.sorted() && Set(run.taken).count == run.taken.count, "seed \(seed)")
            let all = try (0..<run.count).map(Self.name)
            #expect(Set(all).subtracting(run.taken).isSubset(of: run.removed), "seed \(seed)")
            #expect(run.count > 50, "seed \(seed)")
        }
    }
}
