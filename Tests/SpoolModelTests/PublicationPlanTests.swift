import PushModel
import SpoolModel
import TestSupport
import Testing

struct PublicationPlanTests {
    private func ids(_ range: ClosedRange<Int>) -> [JobID] { range.map { JobID(bits: UInt128($0)) } }

    /// Carries out whole rounds, in each of which every step ends as `result` says.
    private func steps(
        of plan: inout PublicationPlan, hasLines: Bool = true,
        _ result: (PublicationPlan.Step) -> PublicationPlan.Result = { _ in .done }
    ) -> [PublicationPlan.Step] {
        var steps: [PublicationPlan.Step] = []
        plan.begin()
        while let step = plan.next(hasLines: hasLines) {
            steps.append(step)
            plan.note(result(step))
        }
        return steps
    }

    @Test func `a round goes from the record to the archive`() {
        var plan = PublicationPlan()
        for id in ids(1...2) { plan.conclude(id) }
        for id in ids(3...3) { plan.park(id) }
        for id in ids(4...4) { plan.depart(id) }
        let both = ids(1...2)
        #expect(
            steps(of: &plan) == [
                .tell(both), .sync, .keepRefs(both), .publish(both), .archive(both), .park(ids(3...3)),
                .depart(ids(4...4)),
            ])
        #expect(plan.isIdle && plan.mustClean && plan.takeArchived() == both + ids(4...4) && !plan.mustClean)
        #expect(steps(of: &plan, hasLines: false).isEmpty)
    }

    @Test func `a step for lines that fails ends the round, and the next has them again`() {
        let one = ids(1...1)
        let all: [PublicationPlan.Step] = [.sync, .keepRefs(one), .publish(one)]
        for (count, failing) in all.enumerated() {
            var plan = PublicationPlan()
            plan.conclude(one[0])
            plan.park(ids(2...2)[0])
            let first = steps(of: &plan) { $0 == failing ? .failed : .done }
            #expect(first == [.tell(one)] + all.prefix(count + 1), "\(failing)")
            #expect(steps(of: &plan) == all + [.archive(one), .park(ids(2...2))], "\(failing)")
        }
    }

    @Test func `what could not be moved is moved with the next round, without another line`() {
        var plan = PublicationPlan()
        let (moved, stuck) = (ids(1...1), ids(2...2))
        for id in moved + stuck { plan.conclude(id) }
        _ = steps(of: &plan) { $0 == .archive(moved + stuck) ? .doneBut(failed: stuck, gone: []) : .done }
        #expect(!plan.isIdle && plan.takeArchived() == moved)
        #expect(steps(of: &plan, hasLines: false) == [.archive(stuck)])
        #expect(plan.takeArchived() == stuck)
    }

    @Test func `a job that is nowhere any more is not forgotten twice`() {
        var plan = PublicationPlan()
        plan.conclude(ids(1...1)[0])
        _ = steps(of: &plan) { $0 == .archive(ids(1...1)) ? .doneBut(failed: [], gone: ids(1...1)) : .done }
        #expect(plan.isIdle && !plan.mustClean)
    }

    @Test func `a job that ends during a round has the next one`() {
        var plan = PublicationPlan()
        plan.conclude(ids(1...1)[0])
        var isFirst = true
        plan.begin()
        while let step = plan.next(hasLines: true) {
            if isFirst { plan.conclude(ids(2...2)[0]) }
            isFirst = false
            #expect(!step.jobs.contains(ids(2...2)[0]), "\(step)")
            plan.note(.done)
        }
        #expect(steps(of: &plan).first == .tell(ids(2...2)))
    }

    @Test(.catalogue("B12 model-crash, the order of publication alone", checks: [.nobodyLost, .fewDoubled]))
    func `a death after any step, whatever jobs there are, loses and repeats nothing`() {
        for kinds in PublishingWorld.Kind.allTriples {
            for (order, stepCount, loses) in PublishingWorld.deaths {
                var world = PublishingWorld()
                for index in order { world.add(kinds[index]) }
                for _ in 0..<stepCount { world.proceed { false } }
                world.die { loses }
                world.endAll()
                let fault = world.fault ?? (world.isAllDone ? nil : "jobs are left")
                #expect(fault == nil, "\(kinds), order \(order), death after \(stepCount) steps, loses: \(loses)")
            }
        }
    }

    @Test func `no run of jobs, failures and deaths breaks the order`() {
        for seed in UInt64(0)..<2_000 {
            var random = SeededGenerator(seed: seed)
            var world = PublishingWorld()
            for _ in 0..<Int.random(in: 1...60, using: &random) { world.step(using: &random) }
            world.endAll()
            #expect(world.fault == nil && world.isAllDone, "seed \(seed): \(world.fault ?? "jobs are left")")
        }
    }

    @Test func `a plan that publishes before its records are durable is found out`() {
        var world = PublishingWorld()
        world.add(.ended)
        world.carryOut(.tell(ids(1...1)))
        world.takeLines()
        world.carryOut(.keepRefs(ids(1...1)))
        world.carryOut(.publish(ids(1...1)))
        world.die { true }
        #expect(world.fault != nil)
    }
}

extension PublicationPlan.Step {
    /// The jobs that it is about.
    fileprivate var jobs: [JobID] {
        switch self {
        case .sync: []
        case .tell(let jobs), .keepRefs(let jobs), .publish(let jobs), .archive(let jobs), .park(let jobs),
            .depart(let jobs):
            jobs
        }
    }
}

/// A disk on which a plan's steps are carried out, through deaths: what was synced outlives them, the rest may not.
private struct PublishingWorld {
    /// How a job comes into the plan.
    enum Kind: CaseIterable {
        case ended, parked, departing

        static var allTriples: [[Kind]] {
            allCases.flatMap { first in
                allCases.flatMap { second in allCases.map { [first, second, $0] } }
            }
        }
    }

    /// What is known of a job, wherever that is.
    private struct Job {
        let kind: Kind
        /// Whether its end is in the journal: recorded, and for good.
        var isRecorded = false
        var isDurable = false
        var isKept = false
        /// Whether its line is in memory, was published in this life, and was ever published.
        var hasLine = false
        var isOut = false
        var wasOut = false
        /// In its place; for good; and forgotten by the journal.
        var isMoved = false
        var isMoveDurable = false
        var isForgotten = false
    }

    /// The orders in which three jobs come, after how many steps death comes, and whether it takes what is not synced.
    static var deaths: [(order: [Int], stepCount: Int, loses: Bool)] {
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
        return orders.flatMap { order in
            (0...10).flatMap { count in [false, true].map { (order, count, $0) } }
        }
    }

    private var plan = PublicationPlan()
    private var jobs: [JobID: Job] = [:]
    private var isInRound = false
    /// The jobs whose lines were taken, to be published.
    private var taken: Set<JobID> = []
    /// What is wrong.
    private(set) var fault: String?

    var isAllDone: Bool {
        jobs.values.allSatisfy { $0.wasOut && $0.isMoved && ($0.isForgotten || $0.kind != .ended) }
    }

    /// Does something: a job ends, an operator wants one parked, a step is carried out, which may fail, or the process dies.
    mutating func step(using random: inout SeededGenerator) {
        switch Int.random(in: 0..<20, using: &random) {
        case 0...3: add(.ended)
        case 4, 5: add(.parked)
        case 6, 7: add(.departing)
        case 8, 9: clean()
        case 10: die { Bool.random(using: &random) }
        default: proceed { Int.random(in: 0..<6, using: &random) == 0 }
        }
    }

    /// Carries out everything that is left, with no more failures.
    mutating func endAll() {
        for _ in 0..<1_000 {
            proceed { false }
            if !isInRound, plan.isIdle, !hasLines { break }
        }
        clean()
    }

    mutating func add(_ kind: Kind) {
        let id = JobID(bits: UInt128(jobs.count + 1))
        jobs[id] = Job(kind: kind)
        enter(id)
    }

    /// Hands a job to the plan: one that has ended, or one whose lines an operator's command has written.
    private mutating func enter(_ id: JobID) {
        switch jobs[id]?.kind {
        case .ended: return plan.conclude(id)
        case .parked: plan.park(id)
        case .departing: plan.depart(id)
        case nil: return
        }
        jobs[id]?.isRecorded = true
        jobs[id]?.hasLine = true
    }

    private var hasLines: Bool { jobs.values.contains { $0.hasLine } }

    /// Carries out a step of a round, or begins one.
    mutating func proceed(mayFail: () -> Bool) {
        if !isInRound {
            plan.begin()
            isInRound = true
        }
        guard let step = plan.next(hasLines: hasLines) else { return isInRound = false }
        guard mayFail() else {
            carryOut(step)
            plan.note(.done)
            return
        }
        // What was taken is put back.
        for id in taken { jobs[id]?.hasLine = true }
        taken = []
        guard case .archive(let ids) = step else {
            plan.note(.failed)
            return
        }
        // One after the other: some may have been moved.
        let half = ids.count / 2
        carryOut(.archive(Array(ids.prefix(half))))
        plan.note(.doneBut(failed: Array(ids.dropFirst(half)), gone: []))
    }

    mutating func carryOut(_ step: PublicationPlan.Step) {
        switch step {
        case .tell(let ids):
            for id in ids {
                jobs[id]?.isRecorded = true
                jobs[id]?.hasLine = true
            }
        case .sync:
            takeLines()
            for (id, job) in jobs where job.isRecorded { jobs[id]?.isDurable = true }
        case .keepRefs(let ids):
            for id in ids { jobs[id]?.isKept = true }
        case .publish(let ids):
            for id in taken {
                check(jobs[id]?.isOut == false, "\(id) was published twice")
                jobs[id]?.isOut = true
                jobs[id]?.wasOut = true
            }
            for id in ids { check(jobs[id]?.isOut == true, "\(id) was called published, and is not") }
            taken = []
        case .archive(let ids), .park(let ids), .depart(let ids):
            for id in ids {
                check(jobs[id]?.isMoved == false, "\(id) was moved twice")
                jobs[id]?.isMoved = true
            }
        }
        for (id, job) in jobs { check(job.isMoved ? job.wasOut : true, "\(id) was moved before its line was out") }
    }

    mutating func takeLines() {
        taken = Set(jobs.filter { $1.hasLine }.keys)
        for id in taken { jobs[id]?.hasLine = false }
    }

    private mutating func clean() {
        guard plan.mustClean else { return }
        let moved = plan.takeArchived()
        // The sync of the folders: it makes only moves durable that were made.
        for id in jobs.keys where jobs[id]?.isMoved == true { jobs[id]?.isMoveDurable = true }
        for id in moved {
            check(jobs[id]?.isMoveDurable == true, "\(id) was forgotten before it was archived")
            check(jobs[id]?.isForgotten == false, "\(id) was forgotten twice")
            jobs[id]?.isForgotten = true
        }
    }

    /// Ends the process, and begins another with what is on the disk.
    ///
    /// - Parameter loses: Whether a change that was not synced is lost with it; asked for each.
    mutating func die(loses: () -> Bool) {
        (plan, isInRound, taken) = (PublicationPlan(), false, [])
        for id in jobs.keys.sorted(by: { $0.bits < $1.bits }) {
            guard var job = jobs[id] else { continue }
            if !job.isDurable, loses() { job.isRecorded = false }
            if job.isMoved, !job.isMoveDurable, loses() { job.isMoved = false }
            if job.wasOut {
                check(job.isRecorded, "\(id) was told, and the next start would send it again")
                check(job.isKept || job.kind != .ended, "\(id) was told, and another of its ref would be sent")
            }
            check(!job.isForgotten || job.isMoved, "\(id) is lost")
            if job.isForgotten { continue }
            (job.hasLine, job.isOut) = (false, false)
            jobs[id] = job
            guard !job.isMoved else {
                // The next start sees it in its place, and syncs that before the journal forgets it.
                if job.kind == .ended { plan.noteMoved(id) }
                continue
            }
            enter(id)
        }
    }

    private mutating func check(_ isRight: Bool, _ text: String) {
        if !isRight, fault == nil { fault = text }
    }
}
