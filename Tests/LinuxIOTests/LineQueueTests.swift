import Glibc
import Synchronization
import TestSupport
import Testing

@testable import LinuxIO

/// Lines on their way to a reader that may be slow, stuck or gone.
@Suite(.timeLimit(.minutes(10))) struct LineQueueTests {
    /// A reader that takes no line while its gate is closed, and may refuse lines.
    private final class Reader: Sendable {
        let gate = Mutex(())
        private let state = Mutex((text: "", stepCount: 0, refuses: false))

        var text: String { state.withLock { $0.text } }
        var stepCount: Int { state.withLock { $0.stepCount } }

        func refuse(_ refuses: Bool) { state.withLock { $0.refuses = refuses } }

        func write(_ lines: [UInt8]) throws(SystemError) {
            gate.withLock { _ in }
            try state.withLock { state throws(SystemError) in
                guard !state.refuses else { throw SystemError(code: ENOSPC, operation: "write") }
                state.text += String(decoding: lines, as: UTF8.self)
                state.stepCount += 1
            }
        }
    }

    private static func queue(_ reader: Reader, byteLimit: Int = 1 << 20) throws -> LineQueue {
        try LineQueue(byteLimit: byteLimit, to: { (line) throws(SystemError) in try reader.write(line) }) {
            Array("lost \($0)\n".utf8)
        }
    }

    @Test func `lines are written in their order`() throws {
        let reader = Reader()
        let queue = try Self.queue(reader)
        let lines = (0..<1_000).map { "line \($0)\n" }
        for line in lines { queue.add(Array(line.utf8)) }
        queue.flush(within: .seconds(60))
        #expect(reader.text == lines.joined() && queue.lostCount == 0)
    }

    @Test func `lines that wait for the reader are written in one step`() throws {
        let reader = Reader()
        let queue = try Self.queue(reader)
        let lines = (0..<100).map { "line \($0)\n" }
        reader.gate.withLock { _ in
            for line in lines { queue.add(Array(line.utf8)) }
        }
        queue.flush(within: .seconds(60))
        // The thread may have taken the first ones before the others came.
        #expect(reader.text == lines.joined() && reader.stepCount <= 2)
    }

    @Test func `a stuck reader delays nobody, and later hears in the right place how many lines were dropped`()
        async throws
    {
        let reader = Reader()
        let queue = try Self.queue(reader, byteLimit: 100)
        reader.gate.withLock { _ in
            for number in 0..<10_000 { queue.add(Array("line \(100_000 + number)\n".utf8)) }
        }
        #expect(queue.lostCount == 9_992)
        try await eventually("the notice") { reader.text.contains("lost") }
        queue.add(Array("last\n".utf8))
        queue.flush(within: .seconds(60))
        #expect(reader.text == (0..<8).map { "line \(100_000 + $0)\n" }.joined() + "lost 9992\nlast\n")
    }

    @Test func `lines that cannot be written are counted, and told with the next line that can`() throws {
        let reader = Reader()
        let queue = try Self.queue(reader)
        reader.refuse(true)
        for line in ["a", "b", "c"] {
            queue.add(Array(line.utf8))
            queue.flush(within: .seconds(60))
        }
        #expect(reader.text.isEmpty && queue.lostCount == 3)
        reader.refuse(false)
        queue.add(Array("d\n".utf8))
        queue.flush(within: .seconds(60))
        #expect(reader.text == "lost 3\nd\n" && queue.lostCount == 3)
    }

    @Test func `the wait for a stuck reader ends at its limit`() throws {
        let reader = Reader()
        let queue = try Self.queue(reader)
        reader.gate.withLock { _ in
            queue.add(Array("a".utf8))
            queue.flush(within: .milliseconds(20))
            #expect(reader.text.isEmpty)
        }
        queue.flush(within: .seconds(60))
        #expect(reader.text == "a")
    }

    @Test func `the thread survives a pipe whose reader has gone`() throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        let reading = Descriptor(adopting: ends[0])
        let writing = Descriptor(adopting: ends[1])
        let number = writing.rawValue
        let queue = try LineQueue(
            to: { (line) throws(SystemError) in
                guard unsafe Glibc.write(number, line, line.count) == line.count else { throw .last("write") }
            }, notice: { Array("lost \($0)".utf8) })
        try reading.closeNow()
        for count in 1...3 {
            queue.add([0x61])
            queue.flush(within: .seconds(60))
            #expect(queue.lostCount == count)
        }
        try writing.closeNow()
    }
}
