import APNSModel
import TestSupport
import Testing

/// What must be announced before it is taken.
struct WorkQueueTests {
    @Test func `without announcing everything is taken at once`() {
        var queue = WorkQueue()
        queue.append(.plain(0..<4))
        #expect(queue.next(atMost: 10)?.indices == 0..<4)
        #expect(queue.takeUnannounced().isEmpty && queue.isBlocked)
    }

    @Test func `what must not be sent twice is taken when it is announced, and others do not wait for it`() {
        var queue = WorkQueue(announces: true)
        queue.append(.plain(0..<4))
        queue.append(.plain(0..<3, job: 2, .resend))
        #expect(!queue.isBlocked)
        #expect(queue.next(atMost: 10)?.job == JobID(bits: 2))
        #expect(queue.isBlocked && queue.count == 4 && queue.unannouncedCount == 4)
        let named = queue.takeUnannounced()
        #expect(named.map(\.indices) == [0..<4])
        #expect(queue.takeUnannounced().isEmpty)
        queue.append(.plain(3..<5, job: 2, .resend))
        queue.announced(named)
        #expect(queue.next(atMost: 3)?.indices == 0..<3)
        #expect(queue.next(atMost: 3)?.indices == 3..<4)
        #expect(queue.next(atMost: 3)?.job == JobID(bits: 2))
        #expect(queue.isBlocked && queue.count == 0)
    }

    @Test func `no more is announced than is asked for`() {
        var queue = WorkQueue(announces: true)
        for start in [0, 3, 6] { queue.append(.plain(start..<start + 3)) }
        for _ in 0..<3 { #expect(queue.next(atMost: 4) == nil) }
        #expect(queue.takeUnannounced().map(\.indices) == [0..<3, 3..<4])
        #expect(queue.unannouncedCount == 4 && !queue.isBlocked)
    }

    @Test func `what came back is announced again if that was taken back`() throws {
        var queue = WorkQueue(announces: true)
        queue.append(.plain(0..<4))
        #expect(queue.next(atMost: 10) == nil)
        queue.announced(queue.takeUnannounced())
        let taken = queue.next(atMost: 10)
        var batch = try #require(taken)
        queue.prepend([batch])
        #expect(queue.next(atMost: 10)?.indices == 0..<4)
        batch.isAnnounced = false
        queue.prepend([batch])
        #expect(queue.gives(atMost: 10) && queue.next(atMost: 10) == nil && !queue.gives(atMost: 4))
        #expect(queue.takeUnannounced().map(\.indices) == [0..<4])
    }

    @Test func `what was removed is not let go by its announcement`() {
        var queue = WorkQueue(announces: true)
        queue.append(.plain(0..<2))
        queue.append(.plain(0..<2, job: 2))
        #expect(queue.next(atMost: 10) == nil)
        let named = queue.takeUnannounced()
        #expect(queue.remove(JobID(bits: 1)).map(\.indices) == [0..<2])
        queue.announced(named)
        #expect(queue.next(atMost: 10)?.job == JobID(bits: 2))
        #expect(queue.next(atMost: 10) == nil && queue.count == 0 && queue.unannouncedCount == 0)
    }

    @Test func `an urgent job goes before all that waits of others, also before what came back`() throws {
        var queue = WorkQueue()
        for start in [0, 1000, 2000] { queue.append(.plain(start..<start + 1000, lane: .bulk)) }
        let taken = queue.next(atMost: 400)
        queue.prepend([try #require(taken)])
        queue.append(.plain(0..<1, job: 2, lane: .normal))
        queue.append(.plain(0..<1, job: 3, lane: .urgent))
        #expect(queue.count == 3002 && queue.count(of: .bulk) == 3000 && queue.count(of: .urgent) == 1)
        #expect(queue.next(atMost: 1)?.job == JobID(bits: 3))
        #expect(queue.next(atMost: 1000)?.job == JobID(bits: 2))
        #expect(queue.next(atMost: 1000)?.indices == 0..<400)
        #expect(queue.next(atMost: 1000)?.indices == 400..<1000)
    }

    @Test func `while urgent work never ends, bulk work gets its share of notifications`() {
        var queue = WorkQueue()
        queue.append(.plain(0..<100, lane: .bulk))
        var bulkCount = 0
        for index in 0..<100 {
            queue.append(.plain(index * 8..<index * 8 + 8, job: 2, lane: .urgent))
            while queue.count(of: .urgent) > 0, let batch = queue.next(atMost: 50) {
                if batch.lane == .bulk { bulkCount += batch.count }
            }
        }
        #expect((90...100).contains(bulkCount), "\(bulkCount)")
    }

    @Test func `what is put back was not taken`() {
        var queue = WorkQueue()
        queue.append(.plain(0..<2000, lane: .bulk))
        queue.append(.plain(0..<2000, job: 2, lane: .urgent))
        var counts: [Lane: Int] = [:]
        while queue.count(of: .urgent) > 0, var batch = queue.next(atMost: 500) {
            counts[batch.lane, default: 0] += batch.removeFirst(3).count
            queue.putBack(batch)
        }
        #expect((220...280).contains(counts[.bulk] ?? 0), "\(counts)")
    }

    @Test func `urgent work that must be announced goes first when it is`() {
        var queue = WorkQueue(announces: true)
        queue.append(.plain(0..<4, lane: .bulk))
        #expect(queue.next(atMost: 10) == nil)
        queue.append(.plain(0..<1, job: 2, lane: .urgent))
        #expect(queue.next(atMost: 10) == nil)
        queue.announced(queue.takeUnannounced())
        #expect(queue.next(atMost: 10)?.lane == .urgent)
        #expect(queue.next(atMost: 10)?.lane == .bulk)
    }

    @Test(arguments: UInt64(0)..<200)
    func `nothing is lost, taken unannounced, or announced in excess`(seed: UInt64) {
        var run = QueueRun(seed: seed)
        for _ in 0..<300 {
            run.step()
            #expect(run.queue.count == run.waitingCount, "seed \(seed)")
        }
        for job in UInt64(1)...4 { run.remove(job) }
        #expect(run.queue.count == 0 && run.queue.unannouncedCount == 0 && run.waitingCount == 0, "seed \(seed)")
        #expect(run.faults.isEmpty, "seed \(seed)")
    }
}

/// A queue of four jobs, of which only the fourth may be sent twice, and what was done with it.
private struct QueueRun {
    var queue = WorkQueue(announces: true)
    private(set) var faults: [String] = []
    private var random: SeededGenerator
    private var added: [UInt64: Int] = [:]
    private var announced: [UInt64: Set<Int>] = [:]
    private var left: [UInt64: Set<Int>] = [:]
    private var named: [Batch] = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// How many were added and neither taken for good nor removed.
    var waitingCount: Int { added.values.reduce(0, +) - left.values.reduce(0) { $0 + $1.count } }

    mutating func step() {
        let job = UInt64.random(in: 1...4, using: &random)
        switch Int.random(in: 0..<20, using: &random) {
        case 0...5: add(to: job)
        case 6...13: take()
        case 14...16: named += queue.takeUnannounced()
        case 17, 18:
            for batch in named { announced[batch.job.bits.low, default: []].formUnion(batch.indices) }
            queue.announced(named)
            named = []
        default: remove(job)
        }
    }

    mutating func remove(_ job: UInt64) {
        for batch in queue.remove(JobID(bits: UInt128(job))) { leave(batch) }
    }

    private mutating func add(to job: UInt64) {
        let start = added[job, default: 0]
        let end = start + Int.random(in: 1...5, using: &random)
        queue.append(.plain(start..<end, job: job, job == 4 ? .resend : .report, lane: Lane.allCases[Int(job) % 3]))
        added[job] = end
    }

    private mutating func take() {
        let limit = Int.random(in: 0...7, using: &random)
        let before = queue.unannouncedCount
        let taken = queue.next(atMost: limit)
        if queue.unannouncedCount > max(before, limit) { faults.append("\(queue.unannouncedCount) for \(limit)") }
        guard let taken else { return }
        let known = announced[taken.job.bits.low, default: []]
        if taken.onDoubt == .report, !known.isSuperset(of: taken.indices) {
            faults.append("unannounced \(taken.indices)")
        }
        if Bool.random(using: &random) { queue.prepend([taken]) } else { leave(taken) }
    }

    private mutating func leave(_ batch: Batch) {
        if !left[batch.job.bits.low, default: []].isDisjoint(with: batch.indices) {
            faults.append("twice \(batch.indices)")
        }
        left[batch.job.bits.low, default: []].formUnion(batch.indices)
    }
}

extension UInt128 {
    fileprivate var low: UInt64 { UInt64(self) }
}

extension Batch {
    fileprivate static func plain(
        _ range: Range<Int>, job: UInt64 = 1, _ onDoubt: OnDoubt = .report, lane: Lane = .normal
    ) -> Batch {
        var tokens = PackedBytes()
        for index in range { tokens.append([UInt8(truncatingIfNeeded: index)]) }
        var header = Header(job: JobID(bits: UInt128(job)), attributes: Attributes(), onDoubt: onDoubt)
        header.lane = lane
        return Batch(
            header: header, firstIndex: range.lowerBound, tokens: tokens, payloads: .shared(Payload(bytes: [])))
    }
}
