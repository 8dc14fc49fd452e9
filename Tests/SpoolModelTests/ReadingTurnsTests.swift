import PushModel
import SpoolModel
import TestSupport
import Testing

struct ReadingTurnsTests {
    private static let limits = ReadingTurns.Limits(total: 100, floor: 4)

    private static func job(_ number: Int) -> JobID { JobID(bits: UInt128(number)) }

    /// Turns in which so many notifications of these jobs pause, the first job's first, and job 9 asks.
    private static func turns(paused counts: [Int], asking number: Int) -> ReadingTurns {
        var turns = ReadingTurns(limits)
        for (number, count) in counts.enumerated() { _ = turns.note(count, of: job(number)) }
        turns.ask(job(number), in: .normal)
        return turns
    }

    @Test(arguments: [
        ([49], 0, true), ([50], 0, false), ([33, 33], 0, true), ([34, 33], 0, false), ([34, 32], 1, true),
        ([1000, 4], 1, true), ([1000, 5], 1, false), ([1000, 1000], 9, true), ([], 9, true),
    ])
    func `a job is read until it has as much paused as all leave`(counts: [Int], number: Int, isRead: Bool) {
        var turns = Self.turns(paused: counts, asking: number)
        #expect(turns.next(of: .normal) == (isRead ? Self.job(number) : nil))
        #expect(turns.restingCount == (isRead ? 0 : 1) && turns.isEmpty)
    }

    @Test func `a job that becomes full after it asked rests when its turn comes`() {
        var turns = Self.turns(paused: [], asking: 1)
        #expect(turns.note(60, of: Self.job(1)).isEmpty)
        #expect(!turns.isEmpty(.normal) && turns.next(of: .normal) == nil)
        #expect(turns.restingCount == 1 && turns.isEmpty(.normal))
    }

    @Test(arguments: [0, 1])
    func `a job that rested asks again in its lane when enough is settled`(settled: Int) {
        var turns = Self.turns(paused: [60, 39], asking: 0)
        turns.ask(Self.job(1), in: .bulk)
        #expect(turns.restingCount == 2)
        let woken = turns.note(0, of: Self.job(settled))
        #expect(woken == LaneSet(settled == 0 ? .normal : .bulk).union(settled == 0 ? LaneSet(.bulk) : LaneSet()))
        #expect(turns.next(of: settled == 0 ? .normal : .bulk) == Self.job(settled))
    }

    @Test func `a job that is taken back does not ask again`() {
        var turns = Self.turns(paused: [60], asking: 0)
        turns.removeAll { $0 == Self.job(0) }
        #expect(turns.note(0, of: Self.job(0)).isEmpty)
        #expect(turns.restingCount == 0 && turns.isEmpty && turns.pausedCount == 0)
    }

    @Test(.catalogue("J72 many-paused, whatever pauses", checks: [], dice: .fixed))
    func `whatever pauses, memory is bounded and who has nothing paused is read`() {
        for seed in UInt64(0)..<40 {
            var run = PausedRun(seed: seed)
            for _ in 0..<500 { run.step() }
            #expect(run.faults.isEmpty, "seed \(seed): \(run.faults.prefix(3))")
            #expect(run.readCount > 0 && run.restCount > 0, "seed \(seed)")
        }
    }
}

/// Jobs that are read in turn while a gateway makes some of what it gets pause, and releases it when it likes.
private struct PausedRun {
    private static let limits = ReadingTurns.Limits(total: 500, floor: 8)
    private static let chunk = 16

    private(set) var faults: [String] = []
    private(set) var readCount = 0
    private(set) var restCount = 0
    private var turns = ReadingTurns(PausedRun.limits)
    private var paused: [JobID: Int] = [:]
    private let jobs: [(id: JobID, lane: Lane, failsInTen: Int)]
    private var random: SeededGenerator

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 3...24, using: &random)
        jobs = (0..<count).map { number in
            let lane = Lane.allCases[number % 3]
            // The first never fails, the second always.
            let fails = number < 2 ? number * 10 : Int.random(in: 1...10, using: &random)
            return (JobID(bits: UInt128(number)), lane, fails)
        }
        self.random = random
        for job in jobs { turns.ask(job.id, in: job.lane) }
    }

    mutating func step() {
        for lane in Lane.allCases {
            guard let id = turns.next(of: lane) else { continue }
            read(id, lane)
        }
        if Int.random(in: 0..<20, using: &random) == 0 { release() }
        check()
    }

    /// Reads a chunk of a job; some of it pauses.
    private mutating func read(_ id: JobID, _ lane: Lane) {
        readCount += 1
        let job = jobs.first { $0.id == id }
        let failing = (0..<Self.chunk).count { _ in Int.random(in: 0..<10, using: &random) < (job?.failsInTen ?? 0) }
        paused[id, default: 0] += failing
        _ = turns.note(paused[id] ?? 0, of: id)
        turns.ask(id, in: lane)
    }

    /// Some of what pauses gets an outcome.
    private mutating func release() {
        guard let id = paused.keys.sorted(by: { $0.bits < $1.bits }).randomElement(using: &random) else { return }
        paused[id] = Int.random(in: 0...(paused[id] ?? 0), using: &random)
        _ = turns.note(paused[id] ?? 0, of: id)
    }

    private mutating func check() {
        restCount += turns.restingCount
        let total = paused.values.reduce(0, +)
        if total != turns.pausedCount { faults.append("\(turns.pausedCount) counted, \(total) pause") }
        let bound = Self.limits.total + jobs.count * (Self.limits.floor + Self.chunk)
        if total > bound { faults.append("\(total) pause") }
        // The one that never fails asks all the time, and so has a turn among the few of its lane.
        var others = turns
        let served = (0..<jobs.count).contains { _ in others.next(of: jobs[0].lane) == jobs[0].id }
        if !served { faults.append("a job that never fails is not read") }
    }
}
