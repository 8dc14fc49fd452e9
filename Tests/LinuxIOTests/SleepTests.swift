import LinuxIO
import TestSupport
import Testing

struct SleepTests {
    @Test func `a sleep does not end before its deadline`() async throws {
        let earliest = try await onReactor { reactor in
            var earliest = Duration.seconds(1)
            for _ in 0..<20 {
                let deadline = ContinuousClock.now + .milliseconds(3)
                try await reactor.sleep(until: deadline)
                earliest = min(earliest, .now - deadline)
            }
            return earliest
        }
        #expect(earliest >= .zero)
    }

    @Test func `sleepers wake in the order of their deadlines`() async throws {
        let reactor = try Reactor()
        defer { reactor.stop() }
        let start = ContinuousClock.now + .milliseconds(20)
        let order = try await withThrowingTaskGroup { group in
            for number in [3, 1, 4, 0, 2] {
                group.addTask {
                    try await reactor.sleep(until: start + .milliseconds(number * 15))
                    return number
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(order == [0, 1, 2, 3, 4])
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

    @Test func `ten thousand sleeps need no more than their time`() async throws {
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
        #expect(elapsed >= .milliseconds(99) && elapsed < .seconds(20))
    }
}
