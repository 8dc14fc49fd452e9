/// The line number at the start of a block of the source, and the offset where that line starts.
struct Landmark: Sendable {
    var line: Int
    var lineStart: Int
}

extension Tape {
    /// The number of bytes between two landmarks.
    package static let landmarkDistance = 512
    /// The largest document without landmarks, in bytes. Lines of a `.jsonl` file are usually shorter and need no survey.
    private static let shortDocument = 4_096

    /// Returns the position of a byte of the source. Reads only the bytes of `counted(before:)`.
    package func place(at offset: Int) -> Place {
        let counted = counted(before: offset)
        let block = (counted.lowerBound - start) / Self.landmarkDistance
        var landmark = landmarks.isEmpty ? Landmark(line: firstLine, lineStart: start) : landmarks[block]
        advance(&landmark, over: counted)
        return Place(line: landmark.line, column: counted.upperBound - landmark.lineStart + 1)
    }

    /// Returns the bytes to read for finding a position: at most 512, or at most 4 KiB in a document without landmarks.
    package func counted(before offset: Int) -> Range<Int> {
        let end = min(max(offset, start), source.count)
        guard !landmarks.isEmpty else { return start..<end }
        let block = min((end - start) / Self.landmarkDistance, landmarks.count - 1)
        return start + block * Self.landmarkDistance..<end
    }

    /// Records landmarks for a document that is too long to be scanned for each position.
    mutating func surveyLines(in range: Range<Int>) {
        guard range.count > Self.shortDocument else { return }
        landmarks.reserveCapacity(range.count / Self.landmarkDistance + 1)
        var landmark = Landmark(line: firstLine, lineStart: start)
        for position in stride(from: range.lowerBound, to: range.upperBound, by: Self.landmarkDistance) {
            landmarks.append(landmark)
            advance(&landmark, over: position..<min(position + Self.landmarkDistance, range.upperBound))
        }
    }

    private func advance(_ landmark: inout Landmark, over range: Range<Int>) {
        let bytes = source.span.extracting(range)
        var count = 0
        for index in bytes.indices where bytes[index] == UInt8(ascii: "\n") { count += 1 }
        guard count > 0 else { return }
        landmark.line += count
        var last = bytes.count - 1
        while bytes[last] != UInt8(ascii: "\n") { last -= 1 }
        landmark.lineStart = range.lowerBound + last + 1
    }
}
