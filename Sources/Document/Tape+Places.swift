/// The line number at the start of a block of the source, and the offset where that line starts.
struct LineMark: Sendable {
    var line: Int
    var lineStart: Int
}

extension Tape {
    /// The number of bytes between two lineMarks.
    package static let landmarkDistance = 512
    /// The largest document without lineMarks, in bytes. Lines of a `.jsonl` file are usually shorter and need no survey.
    private static let shortDocument = 4_096

    /// Returns the position of a byte of the source. Reads only the bytes of `counted(before:)`.
    package func place(at offset: Int) -> Place {
        let counted = counted(before: offset)
        let block = (counted.lowerBound - start) / Self.landmarkDistance
        var lineMark = lineMarks.isEmpty ? LineMark(line: firstLine, lineStart: start) : lineMarks[block]
        advance(&lineMark, over: counted)
        return Place(line: lineMark.line, column: counted.upperBound - lineMark.lineStart + 1)
    }

    /// Returns the bytes to read for finding a position: at most 512, or at most 4 KiB in a document without lineMarks.
    package func counted(before offset: Int) -> Range<Int> {
        let end = min(max(offset, start), source.count)
        guard !lineMarks.isEmpty else { return start..<end }
        let block = min((end - start) / Self.landmarkDistance, lineMarks.count - 1)
        return start + block * Self.landmarkDistance..<end
    }

    /// Records lineMarks for a document that is too long to be scanned for each position.
    mutating func surveyLines(in range: Range<Int>) {
        guard range.count > Self.shortDocument else { return }
        lineMarks.reserveCapacity(range.count / Self.landmarkDistance + 1)
        var lineMark = LineMark(line: firstLine, lineStart: start)
        for position in stride(from: range.lowerBound, to: range.upperBound, by: Self.landmarkDistance) {
            lineMarks.append(lineMark)
            advance(&lineMark, over: position..<min(position + Self.landmarkDistance, range.upperBound))
        }
    }

    private func advance(_ lineMark: inout LineMark, over range: Range<Int>) {
        let bytes = source.span.extracting(range)
        var count = 0
        for index in bytes.indices where bytes[index] == UInt8(ascii: "\n") { count += 1 }
        guard count > 0 else { return }
        lineMark.line += count
        var last = bytes.count - 1
        while bytes[last] != UInt8(ascii: "\n") { last -= 1 }
        lineMark.lineStart = range.lowerBound + last + 1
    }
}
