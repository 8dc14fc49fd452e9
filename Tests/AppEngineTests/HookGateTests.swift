import LinuxIO
import Testing

@testable import AppEngine
@testable import SharedResources

@Suite struct HookGateTests {
    /// Runs `body` with a gate that has no place left, and those that are taken.
    private func withFullGate(share: Duration, _ body: (HookGate, [Int]) async throws -> Void) async throws {
        let reactor = try Reactor()
        defer { reactor.stop() }
        let gate = HookGate(on: reactor, share: share)
        var places: [Int] = []
        for _ in 0..<HookGate.limit { places.append(try #require(await gate.enter())) }
        try await body(gate, places)
    }

    @Test(.timeLimit(.minutes(10))) func `who waits gets the place of one that leaves`() async throws {
        try await withFullGate(share: .seconds(600)) { gate, places in
            let waiting = places.map { _ in Task { await gate.enter() } }
            for place in places { gate.leave(place) }
            for task in waiting { #expect(await task.value != nil) }
        }
    }

    @Test(.timeLimit(.minutes(10))) func `who is cancelled goes without a place, and none is lost`() async throws {
        try await withFullGate(share: .seconds(600)) { gate, places in
            for _ in 0..<1000 {
                let waiting = Task { await gate.enter() }
                waiting.cancel()
                #expect(await waiting.value == nil)
            }
            for place in places { gate.leave(place) }
            for _ in places { #expect(await gate.enter() != nil) }
        }
    }

    @Test(.timeLimit(.minutes(10))) func `places that nobody leaves keep others out for a time only`() async throws {
        try await withFullGate(share: .milliseconds(50)) { gate, _ in
            for _ in 0..<3 * HookGate.limit { #expect(await gate.enter() != nil) }
        }
    }

    @Test(.timeLimit(.minutes(10))) func `a place that is left twice is given once`() async throws {
        try await withFullGate(share: .seconds(600)) { gate, places in
            gate.leave(places[0])
            gate.leave(places[0])
            let first = await gate.enter()
            let second = Task { await gate.enter() }
            second.cancel()
            let isSecondIn = await second.value != nil
            #expect(first != nil && !isSecondIn)
        }
    }

    @Test(.timeLimit(.minutes(10))) func `only who waits is told that there is no place`() async throws {
        try await withFullGate(share: .milliseconds(50)) { gate, _ in
            var waitCount = 0
            let place = try #require(await gate.enter { waitCount += 1 })
            gate.leave(place)
            _ = await gate.enter { waitCount += 1 }
            #expect(waitCount == 1)
        }
    }
}
