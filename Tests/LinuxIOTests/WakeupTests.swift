import Synchronization
import Testing

@testable import LinuxIO

@Suite struct WakeupTests {
    @Test(.timeLimit(.minutes(10))) func `a signal that nobody waits for ends the next wait`() async throws {
        try await withWakeup { wakeup in
            wakeup.signal()
            wakeup.signal()
            await wakeup.wait()
            // Both were one: this ends by its deadline.
            let start = ContinuousClock.now
            await wakeup.wait(until: start + .milliseconds(20))
            #expect(ContinuousClock.now >= start + .milliseconds(20))
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `the first signal is reported once, and kept for the task that it starts`() async throws {
        let reactor = try Reactor()
        defer { reactor.stop() }
        let reports = Atomic(0)
        let wakeup = Wakeup(on: reactor) { reports.add(1, ordering: .relaxed) }
        #expect(reports.load(ordering: .relaxed) == 0)
        wakeup.signal()
        #expect(reports.load(ordering: .relaxed) == 1)
        await wakeup.wait()
        wakeup.signal()
        await wakeup.wait()
        #expect(reports.load(ordering: .relaxed) == 1)
    }

    @Test(.timeLimit(.minutes(10))) func `a signal ends a wait, many times over`() async throws {
        let reactor = try Reactor()
        let (ping, pong) = (Wakeup(on: reactor), Wakeup(on: reactor))
        await withTaskGroup { group in
            group.addTask {
                for _ in 0..<2000 {
                    await ping.wait()
                    pong.signal()
                }
            }
            group.addTask {
                for round in 0..<2000 {
                    ping.signal()
                    await pong.wait(until: round % 2 == 0 ? nil : .now + .seconds(60))
                }
            }
        }
        // Nothing is left over.
        let deadline = ContinuousClock.now + .milliseconds(5)
        await pong.wait(until: deadline)
        #expect(ContinuousClock.now >= deadline)
        reactor.stop()
    }

    @Test(.timeLimit(.minutes(10))) func `a deadline after a later and before an earlier one is kept`() async throws {
        try await withWakeup { wakeup in
            for milliseconds in [30, 10, 1, 20, 0, -5, 15] {
                let deadline = ContinuousClock.now + .milliseconds(milliseconds)
                await wakeup.wait(until: deadline)
                #expect(ContinuousClock.now >= deadline, "\(milliseconds) ms")
            }
        }
    }

    @Test(.timeLimit(.minutes(10))) func `a wait ends when its task is cancelled`() async throws {
        try await withWakeup { wakeup in
            await withTaskGroup { group in
                group.addTask { await wakeup.wait() }
                group.cancelAll()
                await group.next()
                #expect(Bool(group.isCancelled))
            }
        }
    }

    @Test(.timeLimit(.minutes(10))) func `a wait ends when the reactor stops, and later ones do not wait`() async throws
    {
        let reactor = try Reactor()
        let wakeup = Wakeup(on: reactor)
        async let waited: Void = wakeup.wait(until: .now + .seconds(3600))
        reactor.stop()
        await waited
        let start = ContinuousClock.now
        await wakeup.wait(until: start + .seconds(3600))
        #expect(ContinuousClock.now < start + .seconds(3600))
    }

    private func withWakeup(_ body: (Wakeup) async throws -> Void) async throws {
        let reactor = try Reactor()
        try await body(Wakeup(on: reactor))
        reactor.stop()
    }
}
