import LinuxIO
import TestSupport
import Testing

struct ReactorTests {
    @Test func `an actor's code runs on the reactor's thread`() async throws {
        let isCurrent = try await onReactor { reactor in reactor.isCurrent }
        #expect(isCurrent)
    }

    @Test func `the test itself does not`() throws {
        let reactor = try Reactor()
        defer { reactor.stop() }
        #expect(!reactor.isCurrent)
        #expect(reactor.isIsolatingCurrentContext() == false)
    }

    @Test func `jobs from many threads all run, one at a time`() async throws {
        let reactor = try Reactor()
        defer { reactor.stop() }
        let counter = Counter(reactor)
        await withTaskGroup { group in
            for _ in 0..<64 {
                group.addTask { for _ in 0..<500 { await counter.increment() } }
            }
        }
        #expect(await counter.value == 32_000)
    }

    @Test func `actors on one reactor call each other on its thread`() async throws {
        let isOnThread = try await onReactor { reactor in
            let counter = Counter(reactor)
            await counter.increment()
            return await counter.isOnThread && reactor.isCurrent
        }
        #expect(isOnThread)
    }

    @Test func `a stopped reactor ends what sleeps`() async throws {
        let reactor = try Reactor()
        let sleep = Task { try await reactor.sleep(for: .seconds(3600)) }
        // Stops before or after the sleep has begun: both must end it.
        reactor.stop()
        await #expect(throws: CancellationError.self) { try await sleep.value }
    }

    @Test func `stopping twice is stopping once`() throws {
        let reactor = try Reactor()
        reactor.stop()
        reactor.stop()
    }
}

/// Counts on a reactor without any lock.
private actor Counter {
    private let reactor: Reactor
    private(set) var value = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    init(_ reactor: Reactor) {
        self.reactor = reactor
    }

    var isOnThread: Bool { reactor.isCurrent }

    func increment() {
        value += 1
    }
}
