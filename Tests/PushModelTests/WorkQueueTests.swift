import PushModel
import TestSupport
import Testing

/// Jobs of which the gateway refused a notification.
struct HeldJobTests {
    private var queue = WorkQueue()

    /// Takes a notification of the job, and has it refused.
    private mutating func refuse(_ job: UInt64, at second: Int = 0, pause: Int = 10) throws -> Bool? {
        let taken = queue.next(atMost: 1)
        let one = try #require(taken)
        #expect(one.job == JobID(bits: UInt128(job)))
        return queue.hold(one, at: .zero + .seconds(second)) { .seconds(pause * $0) }
    }

    private mutating func expectRefusal(
        _ job: UInt64, isOwnFault: Bool, at location: SourceLocation = #_sourceLocation
    ) throws {
        let judgement = try refuse(job)
        #expect(judgement == isOwnFault, sourceLocation: location)
    }

    private mutating func taken() -> [Int] {
        var indices: [Int] = []
        while let batch = queue.next(atMost: 100) { indices += batch.indices }
        return indices
    }

    @Test mutating func `a job on hold asks when its pause has ended, with one notification`() throws {
        queue.append(.plain(0..<5, .resend))
        try expectRefusal(1, isOwnFault: false)
        #expect(queue.isBlocked && queue.count == 0 && queue.releasedCount(of: JobID(bits: 1)) == 5)
        #expect(queue.nextAsk == .zero + .seconds(10))
        let asks = [9, 10, 30].map { queue.ask(at: .zero + .seconds($0)) }
        #expect(asks == [false, true, false], "at the third time it asks already")
        let asked = taken()
        #expect(asked == [1])
        // Without an answer it asks again after as long a pause.
        #expect(queue.nextAsk == .zero + .seconds(20))
        _ = queue.ask(at: .zero + .seconds(20))
        let next = taken()
        #expect(next == [2])
    }

    @Test mutating func `what a job asks with and is put back has not lost its turn`() throws {
        queue.append(.plain(0..<5, .resend))
        try expectRefusal(1, isOwnFault: false)
        _ = queue.ask(at: .zero + .seconds(10))
        let asked = queue.next(atMost: 1)
        let one = try #require(asked)
        queue.putBack(one)
        let again = taken()
        #expect(again == [1])
    }

    @Test(arguments: [true, false])
    mutating func `a job whose notification expires asks at once with another`(isLast: Bool) throws {
        queue.append(.plain(0..<(isLast ? 2 : 5), .resend))
        try expectRefusal(1, isOwnFault: false)
        _ = queue.ask(at: .zero + .seconds(10))
        let asked = queue.next(atMost: 1)
        let one = try #require(asked)
        queue.noteOutcome(Settlement(one, .expired))
        if isLast { _ = queue.remove(JobID(bits: 1)) }
        let asks = queue.ask(at: .zero + .seconds(10))
        #expect(asks == !isLast)
        let next = taken()
        #expect(next == (isLast ? [] : [2]))
    }

    @Test mutating func `the job refused longest ago asks first`() throws {
        for job in 1...3 { queue.append(.plain(0..<2, job: UInt64(job), .resend)) }
        for job in [1, 3, 2, 1, 3, 2, 1] as [UInt64] {
            if queue.isBlocked { _ = queue.askOne(at: .zero) }
            _ = try refuse(job)
        }
    }

    @Test mutating func `the job that was added last keeps its order when it goes first`() throws {
        queue.append(.plain(0..<1, job: 1, .resend))
        try expectRefusal(1, isOwnFault: false)
        queue.append(.plain(2..<4, job: 2, .resend))
        queue.prepend([.plain(0..<2, job: 2, .resend)])
        let order = taken()
        #expect(order == [0, 1, 2, 3])
    }

    @Test(arguments: ["append", "release", "prepend", "putBack"])
    mutating func `whatever comes of a job on hold is kept apart`(way: String) throws {
        queue.append(.plain(0..<1, .resend))
        _ = try refuse(1)
        queue.append(.plain(0..<3, job: 2, .resend))
        let more = Batch.plain(1..<4, .resend)
        switch way {
        case "append": queue.append(more)
        case "release": queue.release([more])
        case "prepend": queue.prepend([more])
        default: queue.putBack(more)
        }
        #expect(queue.count == 3 && queue.batches(of: JobID(bits: 1)).notificationCount == 4)
        let changed = queue.takeRelieved()
        #expect(changed == [JobID(bits: 1)])
        let removed = queue.remove(JobID(bits: 1))
        #expect(removed.notificationCount == 4 && !queue.hasHeldWork && !queue.isOnHold(JobID(bits: 1)))
    }

    @Test mutating func `an announced notification of a job on hold is announced again`() throws {
        queue = WorkQueue(announces: true)
        queue.append(.plain(0..<2))
        queue.append(.plain(0..<1, job: 2, .resend))
        let first = queue.next(atMost: 5)
        #expect(first?.job == JobID(bits: 2))
        let announced = queue.takeUnannounced()
        _ = queue.hold(Batch.plain(9..<10), at: .zero) { _ in .seconds(1) }
        queue.announced(announced)
        let none = queue.next(atMost: 5)
        let withdrawn = queue.takeWithdrawn()
        #expect(none == nil && withdrawn.map(\.indices) == [0..<2])
        #expect(queue.releasedCount(of: JobID(bits: 1)) == 3 && queue.isBlocked)
    }

    @Test(arguments: [Outcome.accepted, .rejected(Refusal(.givenUp, .later)), .unknown, .expired])
    mutating func `an answer that does not blame the app ends the hold`(outcome: Outcome) throws {
        queue.append(.plain(0..<3, .resend))
        _ = try refuse(1)
        queue.noteOutcome(Settlement(.plain(1..<2), outcome))
        let isAnswer = outcome == .accepted || outcome.refusal != nil
        #expect(queue.isOnHold(JobID(bits: 1)) != isAnswer && (queue.count == 3) == isAnswer)
    }

    @Test mutating func `another job's acceptance shows whose fault it is`() throws {
        queue.append(.plain(0..<2, .resend))
        try expectRefusal(1, isOwnFault: false)
        queue.noteOutcome(Settlement(.plain(0..<1, job: 2), .accepted))
        _ = queue.askOne(at: .zero)
        try expectRefusal(1, isOwnFault: true)
        queue.startOver()
        _ = queue.ask(at: .zero)
        try expectRefusal(1, isOwnFault: false)
    }

    @Test mutating func `another configuration lets jobs on hold ask, each with one notification`() throws {
        for job in 1...2 { queue.append(.plain(0..<3, job: UInt64(job), .resend)) }
        _ = try refuse(1, pause: 1000)
        _ = try refuse(2, pause: 1000)
        queue.startOver()
        #expect(queue.isBlocked && queue.nextAsk == .zero)
        _ = queue.ask(at: .zero)
        #expect(queue.count == 2)
    }

    @Test mutating func `after every other refusal the job that was added last has the next turn, in any lane`() throws
    {
        for job in 1...9 { queue.append(.plain(0..<1, job: UInt64(job), .resend)) }
        // The newest, the next in turn, and so on.
        try expectRefusal(1, isOwnFault: false)
        queue.append(.plain(0..<1, job: 20, .resend, lane: .bulk))
        try expectRefusal(20, isOwnFault: false)
        queue.append(.plain(0..<1, job: 21, .resend))
        try expectRefusal(2, isOwnFault: false)
        try expectRefusal(21, isOwnFault: false)
        try expectRefusal(3, isOwnFault: false)
        // None was added since: the one that is last in turn.
        try expectRefusal(9, isOwnFault: false)
        try expectRefusal(4, isOwnFault: false)
    }

    /// A gateway of the binary protocol discards what was sent behind a refused one, so that all of it comes back.
    @Test mutating func `the job that was added last has its turn although it came back with others`() throws {
        for job in 1...5 { queue.append(.plain(0..<2, job: UInt64(job), .resend)) }
        var sent: [Batch] = []
        while let batch = queue.next(atMost: 1) { sent.append(batch) }
        let first = try #require(sent.first { $0.job == JobID(bits: 1) })
        queue.prepend(sent.filter { $0.job != JobID(bits: 1) })
        _ = queue.hold(first, at: .zero) { .seconds(10 * $0) }
        let turns = (1...3).map { _ in queue.next(atMost: 1) }
        #expect(turns.map { $0?.job } == [5, 5, 2].map { JobID(bits: $0) })
        #expect(turns[0]?.indices == 0..<1)
    }

    @Test
    mutating func `the job that was added last goes before returned notifications once, and not after an acceptance`()
        throws
    {
        queue.append(.plain(0..<1, job: 1, .resend))
        try expectRefusal(1, isOwnFault: false)
        queue.append(.plain(0..<2, job: 2, .resend))
        queue.prepend([.plain(0..<2, job: 3, .resend)])
        let turns = (1...2).map { _ in queue.next(atMost: 1)?.job }
        #expect(turns == [JobID(bits: 2), JobID(bits: 3)])
        try expectRefusal(3, isOwnFault: false)
        try expectRefusal(2, isOwnFault: false)
        queue.append(.plain(0..<1, job: 4, .resend))
        queue.append(.plain(0..<1, job: 5, .resend))
        queue.noteOutcome(Settlement(.plain(0..<1, job: 6), .accepted))
        let turn = queue.next(atMost: 1)?.job
        #expect(turn == JobID(bits: 4))
    }
}

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
            header: header, firstIndex: range.lowerBound, addresses: tokens, payloads: .shared(Payload(bytes: [])))
    }
}
