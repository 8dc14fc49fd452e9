import LinuxIO
import TestSupport
import Testing

struct SleepTests {
    @Test func `a sleep ends at its deadline, not before and hardly after`() async throws {
        let lateness = try await onReactor { reactor in
            var lateness: [Duration] = []
            // The best shows the timer's precision; the others, how busy the machine is.
            while lateness.count < 2_000, lateness.min().map({ $0 >= .milliseconds(1) }) ?? true {
                let deadline = ContinuousClock.now + .milliseconds(3)
                try await reactor.sleep(until: deadline)
                lateness.append(.now - deadline)
            }
            return lateness
        }
        #expect(try #require(lateness.min()) >= .zero)
        #expect(try #require(lateness.min()) < .milliseconds(1))
    }

    @Test func `sleepers wake in the order of their deadlines`() async throws {
        let reactor = try Reactor()
        defer { reactor.stop() }
        let sleepers = Sleepers(reactor)
        try await withThrowingTaskGroup { group in
            for number in [3, 1, 4, 0, 2] {
                group.addTask { try await sleepers.sleep(number, of: 5) }
            }
            try await group.waitForAll()
        }
        #expect(await sleepers.order == [0, 1, 2, 3, 4])
    }

    @Test func `a sleep of a task on another thread ends, too`() async throws {
        let reactor = try Reactor()
        defer { reactor.stop() }
        let deadline = ContinuousClock.now + .milliseconds(3)
        try await reactor.sleep(until: deadline)
        #expect(.now >= deadline)
    }

    @Test func `a past deadline does not wait`() async throws {
        try await onReactor { reactor in try await reactor.sleep(until: .now - .seconds(1)) }
    }

    @Test func `cancelling ends a sleep`() async throws {
        let reactor = try Reactor()
        defer { reactor.stop() }
        let sleeper = Task { try await reactor.sleep(for: .seconds(3600)) }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    @Test func `ten thousand sleeps all end, the last not before its time`() async throws {
        let reactor = try Reactor()
        defer { reactor.stop() }
        let elapsed = try await ContinuousClock().measure {
            try await withThrowingTaskGroup { group in
                for number in 0..<10_000 {
                    group.addTask { try await reactor.sleep(for: .microseconds(number * 10)) }
                }
                try await group.waitForAll()
            }
        }
        #expect(elapsed >= .milliseconds(99))
    }
}

/// Notes the order in which its sleeps end.
private actor Sleepers {
    private let reactor: Reactor
    private var arrived = 0
    private var start = ContinuousClock.now
    private(set) var order: [Int] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    init(_ reactor: Reactor) {
        self.reactor = reactor
    }

    /// Sleeps so much the longer the higher its number is, from a moment when all `count` sleepers are here.
    func sleep(_ number: Int, of count: Int) async throws {
        arrived += 1
        if arrived == count { start = .now + .milliseconds(200) }
        while arrived < count { try await reactor.sleep(for: .milliseconds(1)) }
        try await reactor.sleep(until: start + .microseconds(number * 100))
        order.append(number)
    }
}
