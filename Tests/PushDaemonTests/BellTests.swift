import LinuxIO
import Testing

@testable import AppEngine
@testable import PushDaemon

@Suite struct BellTests {
    @Test(.timeLimit(.minutes(1))) func `a ring that nobody waits for ends the next wait`() async throws {
        try await withBell { bell in
            bell.ring()
            bell.ring()
            await bell.wait()
            // Both were one: this ends by its deadline.
            let start = ContinuousClock.now
            await bell.wait(until: start + .milliseconds(20))
            #expect(ContinuousClock.now >= start + .milliseconds(20))
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a ring ends a wait, many times over`() async throws {
        let reactor = try Reactor()
        let (ping, pong) = (Bell(on: reactor), Bell(on: reactor))
        await withTaskGroup { group in
            group.addTask {
                for _ in 0..<2000 {
                    await ping.wait()
                    pong.ring()
                }
            }
            group.addTask {
                for round in 0..<2000 {
                    ping.ring()
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

    @Test(.timeLimit(.minutes(1))) func `a deadline after a later and before an earlier one is kept`() async throws {
        try await withBell { bell in
            for milliseconds in [30, 10, 1, 20, 0, -5, 15] {
                let deadline = ContinuousClock.now + .milliseconds(milliseconds)
                await bell.wait(until: deadline)
                #expect(ContinuousClock.now >= deadline, "\(milliseconds) ms")
            }
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a wait ends when its task is cancelled`() async throws {
        try await withBell { bell in
            await withTaskGroup { group in
                group.addTask { await bell.wait() }
                group.cancelAll()
                await group.next()
                #expect(Bool(group.isCancelled))
            }
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a wait ends when the reactor stops, and later ones do not wait`() async throws
    {
        let reactor = try Reactor()
        let bell = Bell(on: reactor)
        async let waited: Void = bell.wait(until: .now + .seconds(3600))
        reactor.stop()
        await waited
        let start = ContinuousClock.now
        await bell.wait(until: start + .seconds(3600))
        #expect(ContinuousClock.now < start + .seconds(3600))
    }

    private func withBell(_ body: (Bell) async throws -> Void) async throws {
        let reactor = try Reactor()
        try await body(Bell(on: reactor))
        reactor.stop()
    }
}
