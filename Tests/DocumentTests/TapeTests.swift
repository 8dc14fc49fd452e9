import Document
import Testing

@Suite struct TapeTests {
    private static func sample() -> Tape {
        var tape = Tape()
        let source = Array("xx\n{\"a\":[1,\"b\\n\"]}".utf8)
        tape.begin(.json, source: source, range: 3..<source.count)
        let mapping = tape.openContainer(.mapping, at: 3)
        tape.append(.key, raw: 4..<7, text: 5..<6)
        let list = tape.openContainer(.sequence, at: 8)
        tape.append(.number, raw: 9..<10, text: 9..<10)
        tape.append(.string, raw: 11..<16, decoded: "b\n".utf8)
        tape.closeContainer(list, count: 2, end: 17)
        tape.closeContainer(mapping, count: 1, end: 18)
        return tape
    }

    @Test func `an event takes 20 bytes`() {
        #expect(MemoryLayout<Event>.size == 20 && MemoryLayout<Event>.stride == 20)
    }

    @Test func `a tape gives back what was put onto it`() throws {
        let root = Self.sample().root
        #expect(root.kind == .mapping && root.count == 1 && root.members.map(\.key.text) == ["a"])
        let list = try #require(root["a"])
        #expect(list.elements.map(\.text) == ["1", "b\n"] && list.elements.map(\.kind) == [.number, .string])
        #expect(list.place == Place(line: 1, column: 6) && String(decoding: list.raw, as: UTF8.self) == #"[1,"b\n"]"#)
        #expect(root["b"] == nil && list["a"] == nil && list.members.map(\.key.text).isEmpty)
    }

    @Test func `an empty tape reads as a null`() {
        var tape = Self.sample()
        tape.removeAll()
        #expect(tape.root.kind == .null && tape.root.text.isEmpty && tape.root.place == Place(line: 1, column: 1))
        #expect(Node(tape: Self.sample(), index: -1).kind == .null)
        #expect(Node(tape: Self.sample(), index: 99).bytes.isEmpty)
    }

    @Test func `limits stay within what a tape can describe`() {
        let limits = DocumentLimits(byteCount: .max, depth: .max, eventCount: .max)
        #expect(limits.byteCount == 1 << 30 && limits.depth == 512 && limits.eventCount == 1 << 27)
        #expect(DocumentLimits(byteCount: -1, depth: -1, eventCount: -1).depth == 0)
        #expect(DocumentLimits().perLine.byteCount == 16 << 10)
    }
}
