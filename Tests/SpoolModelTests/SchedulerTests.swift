import PushModel
import SpoolModel
import TestSupport
import Testing

struct SchedulerTests {
    @Test func `lanes go first, and within a lane everybody in turn`() {
        var scheduler = Scheduler<Int>()
        for (number, lane) in [Lane.bulk, .normal, .urgent, .normal].enumerated() { scheduler.ask(number, in: lane) }
        #expect(scheduler.next() == 2 && scheduler.next() == 1)
        scheduler.ask(1, in: .normal)
        #expect(scheduler.next() == 3 && scheduler.next() == 1 && scheduler.next() == 0)
        #expect(scheduler.next() == nil && scheduler.isEmpty)
    }

    @Test func `one lane can be asked for alone, and questions be taken back`() {
        var scheduler = Scheduler<Int>()
        for number in 0..<4 { scheduler.ask(number, in: number < 2 ? .urgent : .bulk) }
        #expect(scheduler.next(of: LaneSet(.bulk)) == 2)
        scheduler.removeAll { $0 == 0 }
        #expect(scheduler.next() == 1 && !scheduler.isEmpty(.bulk))
        scheduler.removeAll()
        #expect(scheduler.isEmpty)
    }

    @Test func `in any mix of apps, rates and pauses nobody starves, and turns are fair`() {
        for seed in UInt64(0)..<UInt64(trials(30, full: 100)) {
            var run = TurnRun(seed: seed)
            for _ in 0..<2000 { run.step() }
            #expect(run.faults.isEmpty, "seed \(seed): \(run.faults.prefix(3))")
            #expect(run.turnCount > 100, "seed \(seed)")
        }
    }

    @Test func `a rate is reached beside apps that have none`() throws {
        var run = TurnRun(seed: 1, pauses: false)
        let rate = try #require(Rate(500))
        run.configure(0, rate: rate)
        for app in 0..<3 { run.add(to: app, .normal, count: 1_000_000) }
        for _ in 0..<20_000 { run.step() }
        let due = 500 * (run.time / .seconds(1))
        #expect(Double(run.sent(by: 0)) <= due + Double(rate.burst))
        #expect(Double(run.sent(by: 0)) >= due * 0.99)
    }
}
