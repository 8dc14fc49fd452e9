import LinuxIO
import Synchronization
import TestSupport
import Testing

@testable import AppEngine
@testable import SharedResources

@Suite struct ReadingGateTests {
    /// Who was let in, in order.
    private final class Entries: Sendable {
        private let names = Mutex<[String]>([])

        var all: [String] { names.withLock { $0 } }

        func add(_ name: String) { names.withLock { $0.append(name) } }

        /// Reads a file alone as soon as it is let in.
        func readAlone(_ name: String, at gate: ReadingGate) -> Task<Void, Never> {
            Task {
                #expect(await gate.enter(alone: true))
                add(name)
                gate.leave(alone: true)
            }
        }
    }

    private func withGate(patience: Duration, _ body: (ReadingGate) async throws -> Void) async throws {
        let reactor = try Reactor()
        try await body(ReadingGate(on: reactor, patience: patience))
        reactor.stop()
    }

    @Test(.timeLimit(.minutes(10))) func `a file that is read alone gets its turn while others come and go`()
        async throws
    {
        try await withGate(patience: .seconds(600)) { gate in
            let entries = Entries()
            #expect(await gate.enter(alone: false))
            let suspect = entries.readAlone("suspect", at: gate)
            // It waits as soon as nobody else is let in.
            var others: [Task<Void, Never>] = []
            while entries.all.isEmpty || others.count < 10 {
                others.append(
                    Task {
                        #expect(await gate.enter(alone: false))
                        try? await moment(.milliseconds(20))
                        gate.leave(alone: false)
                    })
                if others.count == 5 { gate.leave(alone: false) }
                try await moment(.milliseconds(5))
            }
            await suspect.value
            for other in others { await other.value }
            #expect(entries.all == ["suspect"])
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: [false, true])
    func `who is cancelled while it waits is not let in, and keeps nobody out`(alone: Bool) async throws {
        try await withGate(patience: .seconds(600)) { gate in
            #expect(await gate.enter(alone: !alone))
            let waiting = Task { await gate.enter(alone: alone) }
            try await moment(.milliseconds(20))
            waiting.cancel()
            #expect(await !waiting.value)
            gate.leave(alone: !alone)
            #expect(await gate.enter(alone: false))
        }
    }

    @Test(.timeLimit(.minutes(10))) func `a file that is read alone keeps others out for a while only`() async throws {
        try await withGate(patience: .milliseconds(50)) { gate in
            #expect(await gate.enter(alone: true))
            #expect(await gate.enter(alone: false))
            #expect(await gate.enter(alone: false))
        }
    }

    @Test(.timeLimit(.minutes(10))) func `a file that is to be read alone waits for others for a while only`()
        async throws
    {
        try await withGate(patience: .milliseconds(50)) { gate in
            #expect(await gate.enter(alone: false))
            #expect(await gate.enter(alone: true))
            #expect(await gate.enter(alone: false))
        }
    }

    @Test(.timeLimit(.minutes(10))) func `each further death keeps others out for longer, so that it is found alone`()
        async throws
    {
        try await withGate(patience: .seconds(1)) { gate in
            let entries = Entries()
            #expect(await gate.enter(alone: true, deathCount: 10))
            let other = Task {
                #expect(await gate.enter(alone: false))
                entries.add("other")
            }
            try await moment(.seconds(2))
            entries.add("suspect")
            gate.leave(alone: true)
            await other.value
            #expect(entries.all == ["suspect", "other"])
        }
    }

    @Test(.timeLimit(.minutes(10))) func `files that are to be read alone are read one after the other`() async throws {
        try await withGate(patience: .milliseconds(1)) { gate in
            let entries = Entries()
            #expect(await gate.enter(alone: true))
            let second = entries.readAlone("second", at: gate)
            try await moment(.milliseconds(50))
            entries.add("first")
            gate.leave(alone: true)
            await second.value
            #expect(entries.all == ["first", "second"])
        }
    }
}
