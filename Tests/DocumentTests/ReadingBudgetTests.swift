import Document
import Synchronization
import Testing

@Suite struct ReadingBudgetTests {
    /// A clock that a test sets.
    private final class Clock: Sendable {
        let spent = Mutex(Duration.zero)
    }

    @Test(arguments: [(0, 2), (1, 3), (1 << 20, 3), ((1 << 20) + 1, 4), (64 << 20, 66)])
    func `a file has two seconds, and one for each MiB`(byteCount: Int, seconds: Int) {
        #expect(ReadingBudget.limit(for: byteCount) == .seconds(seconds))
    }

    @Test func `the longest file that there can be has a budget too`() {
        #expect(ReadingBudget.limit(for: .max) == .seconds(2 + (1 << 43)))
    }

    @Test func `a budget is spent when more than its time has passed, and says what to do`() throws {
        let clock = Clock()
        let budget = ReadingBudget(byteCount: 10) { clock.spent.withLock { $0 } }
        clock.spent.withLock { $0 = .seconds(3) }
        try budget.spend()
        clock.spent.withLock { $0 = .seconds(3) + .nanoseconds(1) }
        let fault = #expect(throws: Diagnostic.self) { try budget.spend() }
        #expect(fault?.message == "reading the file took more than the limit of 3 s of processor time")
        #expect(fault?.hint == "split it, or write it as .jsonl with one recipient per line")
    }

    @Test func `what nobody wants has no budget, however little was spent`() throws {
        let isUnwanted = Mutex(false)
        let budget = ReadingBudget.unlimited.unless { isUnwanted.withLock { $0 } }
        try budget.spend()
        isUnwanted.withLock { $0 = true }
        #expect(throws: Diagnostic.self) { try budget.spend() }
    }

    @Test func `a large mapping is searched for repeated keys only as long as there is a budget`() {
        var tape = Tape()
        let mapping = tape.openContainer(.mapping, at: 0)
        for _ in 0..<100_000 {
            tape.append(.key, raw: 0..<0, decoded: "k\(tape.events.count)".utf8)
            tape.append(.null, raw: 0..<0, text: 0..<0)
        }
        tape.closeContainer(mapping, count: 100_000, end: 0)
        let asked = Mutex(0)
        let budget = ReadingBudget {
            asked.withLock {
                $0 += 1; return $0 > 3 ? Diagnostic("over") : nil
            }
        }
        #expect(throws: Diagnostic("over")) { try tape.refuseDuplicateKeys(within: budget) }
    }
}
