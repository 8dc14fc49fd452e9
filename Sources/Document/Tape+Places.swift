/// The number of line feeds before a block of the source, and where the line that reaches into it starts.
struct Landmark: Sendable {
    var line: Int
    var lineStart: Int
}

extension Tape {
    /// How many bytes lie between two landmarks.
    package static let landmarkDistance = 512
    /// Up to how many bytes a document has none: lines of a `.jsonl` file are shorter, as a rule, and cost no survey.
    private static let shortDocument = 4_096

    /// Where a byte of the source is. Looks at the bytes of `counted(before:)` and no others.
    package func place(at offset: Int) -> Place {
        let counted = counted(before: offset)
        let block = (counted.lowerBound - start) / Self.landmarkDistance
        var landmark = landmarks.isEmpty ? Landmark(line: firstLine, lineStart: start) : landmarks[block]
        advance(&landmark, over: counted)
        return Place(line: landmark.line, column: counted.upperBound - landmark.lineStart + 1)
    }

    /// The bytes that finding a place looks at: 512 at most, or 4 KiB in a document that is no longer than that.
    package func counted(before offset: Int) -> Range<Int> {
        let end = min(max(offset, start), source.count)
        guard !landmarks.isEmpty else { return start..<end }
        let block = min((end - start) / Self.landmarkDistance, landmarks.count - 1)
        return start + block * Self.landmarkDistance..<end
    }

    /// Notes landmarks for a document that is too long to be counted through for each place.
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
