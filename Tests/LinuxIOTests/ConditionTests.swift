import Synchronization
import Testing

@testable import LinuxIO

@Suite struct ConditionTests {
    /// A number that tasks share.
    private final class Counter: Sendable {
        private let number = Atomic(0)

        var value: Int { number.load(ordering: .relaxed) }

        func increase() { number.add(1, ordering: .relaxed) }
    }

    private let reactor: Reactor
    private let condition: Condition

    init() throws {
        reactor = try Reactor()
        condition = Condition(on: reactor)
    }

    @Test(.timeLimit(.minutes(10))) func `a broadcast between a check and the wait after it is not lost`() async {
        defer { reactor.stop() }
        var checkCount = 0
        let isTrue = await condition.wait {
            checkCount += 1
            if checkCount < 3 { condition.broadcast() }
            return checkCount == 3
        }
        #expect(isTrue && checkCount == 3)
    }

    @Test(.timeLimit(.minutes(10))) func `each broadcast makes all tasks check again`() async {
        defer { reactor.stop() }
        let round = Counter()
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 1...200 {
                        let isTrue = await condition.wait { round.value >= number }
                        #expect(isTrue, "task \(task), round \(number)")
                    }
                }
            }
            group.addTask {
                for _ in 1...200 {
                    round.increase()
                    condition.broadcast()
                    await Task.yield()
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(10))) func `a wait ends at its deadline`() async {
        defer { reactor.stop() }
        let deadline = ContinuousClock.now + .milliseconds(20)
        let isTrue = await condition.wait(until: deadline) { false }
        #expect(!isTrue && ContinuousClock.now >= deadline)
        let isTrueAtOnce = await condition.wait(until: deadline) { true }
        #expect(isTrueAtOnce, "a deadline that has passed does not keep what is true from being seen")
    }

    @Test(.timeLimit(.minutes(10))) func `a cancelled task waits no more, and the others go on`() async {
        defer { reactor.stop() }
        let end = Counter()
        await withTaskGroup { group in
            let cancelled = Task { await condition.wait { false } }
            group.addTask {
                let isTrue = await condition.wait { end.value > 0 }
                #expect(isTrue)
            }
            cancelled.cancel()
            let isTrue = await cancelled.value
            #expect(!isTrue)
            end.increase()
            condition.broadcast()
        }
    }
}
