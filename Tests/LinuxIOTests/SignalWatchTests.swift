import Glibc
import LinuxIO
import TestSupport
import Testing

struct SignalWatchTests {
    @Test func `blocked signals are delivered to the watch`() async throws {
        let heard = try await onReactor { reactor in
            // Blocked and raised on the reactor's own thread, so that no other thread of the tests can get them.
            let blocked = try BlockedSignals([.user1, .user2])
            raise(SIGUSR2)
            let watch = try SignalWatch(blocked, on: reactor)
            let first = try await watch.next()
            raise(SIGUSR1)
            return [first, try await watch.next()]
        }
        #expect(heard == [.user2, .user1])
    }

    @Test func `cancelling ends the wait for a signal`() async throws {
        let reactor = try Reactor()
        defer { reactor.stop() }
        let waiting = Task {
            try await ReactorHost(reactor).run { reactor in
                try await SignalWatch(BlockedSignals([.hangup]), on: reactor).next()
            }
        }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }
}
