/// The number of line feeds before a block of the source, and where the line that reaches into it starts.
struct Landmark: Sendable {
    var line: Int
    var lineStart: Int
}

extension Tape {
    /// How many bytes lie between two landmarks.
    static let landmarkDistance = 1 << 16

    /// Where a byte of the source is. Costs a look at up to 64 KiB.
    package func place(at offset: Int) -> Place {
        let end = min(max(offset, start), source.count)
        var landmark = Landmark(line: firstLine, lineStart: start)
        var position = start
        if !landmarks.isEmpty {
            let block = min((end - start) / Self.landmarkDistance, landmarks.count - 1)
            landmark = landmarks[block]
            position = start + block * Self.landmarkDistance
        }
        advance(&landmark, over: position..<end)
        return Place(line: landmark.line, column: end - landmark.lineStart + 1)
    }

    /// Notes landmarks for a document that is too long to be counted through for each place.
    mutating func surveyLines(in range: Range<Int>) {
        guard range.count > Self.landmarkDistance else { return }
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
