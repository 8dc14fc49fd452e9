import Testing

@testable import PushDaemon

@Suite struct HookGateTests {
    /// A gate that has no place left.
    private func fullGate() async -> HookGate {
        let gate = HookGate()
        for _ in 0..<HookGate.limit { _ = await gate.enter() }
        return gate
    }

    @Test(.timeLimit(.minutes(1))) func `who waits gets the place of one that leaves`() async {
        let gate = await fullGate()
        let waiting = (0..<HookGate.limit).map { _ in Task { await gate.enter() } }
        for _ in waiting { gate.leave() }
        for task in waiting { #expect(await task.value) }
    }

    @Test(.timeLimit(.minutes(1))) func `who is cancelled goes without a place, and none is lost`() async {
        let gate = await fullGate()
        for _ in 0..<1000 {
            let waiting = Task { await gate.enter() }
            waiting.cancel()
            #expect(await !waiting.value)
        }
        for _ in 0..<HookGate.limit { gate.leave() }
        for _ in 0..<HookGate.limit { #expect(await gate.enter()) }
    }
}
