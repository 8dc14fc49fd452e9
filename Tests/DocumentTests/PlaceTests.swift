import Document
import TestSupport
import Testing

@Suite struct PlaceTests {
    /// Where a byte is, by a look at all bytes before it.
    private static func counted(_ source: [UInt8], _ offset: Int, firstLine: Int) -> Place {
        let before = source[..<offset]
        let line = firstLine + before.count { $0 == UInt8(ascii: "\n") }
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return Place(line: line, column: offset - start + 1)
    }

    /// A tape over lines of these lengths, again and again.
    private static func tape(_ byteCount: Int, lines lengths: [Int], firstLine: Int = 1) -> Tape {
        var source: [UInt8] = []
        while source.count < byteCount {
            for length in lengths { source += Array(repeating: 0x78, count: length) + [UInt8(ascii: "\n")] }
        }
        var tape = Tape()
        tape.firstLine = firstLine
        tape.begin(.yaml, source: source, range: 0..<source.count)
        return tape
    }

    @Test(arguments: [100, 4_096, 4_097, 20_000, 200_000], [[0], [1], [511], [512], [3, 0, 700, 20]])
    func `a place is what counting from the start gives`(byteCount: Int, lines: [Int]) {
        let tape = Self.tape(byteCount, lines: lines, firstLine: 7)
        for offset in stride(from: 0, through: tape.source.count, by: max(1, byteCount / trials(23, full: 97))) {
            #expect(tape.place(at: offset) == Self.counted(tape.source, offset, firstLine: 7))
        }
    }

    @Test func `a place in a long document costs a look at 512 bytes, however long it is`() {
        for byteCount in [5_000, 100_000, 3_000_000] {
            let tape = Self.tape(byteCount, lines: [40])
            let offsets = stride(from: 0, through: tape.source.count, by: 101)
            #expect(offsets.allSatisfy { tape.counted(before: $0).count <= Tape.landmarkDistance })
        }
    }

    @Test func `a place in a short document costs a look at no more than it has`() {
        let tape = Self.tape(4_000, lines: [40])
        #expect(tape.counted(before: tape.source.count).count == tape.source.count)
    }
}
