/// Splits a stream of bytes into lines. Holds at most one piece and one line.
package struct LineBuffer: Sendable {
    /// The next item in the stream.
    package enum Step: Hashable, Sendable {
        /// A line, without its line feed.
        case line(Range<Int>, isTerminated: Bool)
        /// A line longer than the limit.
        case tooLong
        /// The next line is still incomplete.
        case needsMore
        /// The stream has ended.
        case end
    }

    /// The number of readable bytes after the last one. They save a JSON parser a copy.
    private static let padding = 64

    /// The bytes that line ranges refer to, followed by padding.
    package private(set) var bytes: [UInt8] = []
    /// Whether the stream has ended.
    package var isFinished = false
    private let limit: Int
    private var start = 0
    private var searched = 0
    private var end = 0

    /// Creates a buffer for lines of at most `limit` bytes.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Appends bytes after the unread ones.
    package mutating func append(_ piece: some Collection<UInt8>) {
        bytes.removeSubrange(end...)
        bytes.removeSubrange(..<start)
        bytes.reserveCapacity(end - start + piece.count + Self.padding)
        bytes.append(contentsOf: piece)
        (searched, start, end) = (searched - start, 0, bytes.count)
        bytes.append(contentsOf: repeatElement(0, count: Self.padding))
    }

    /// Returns the next line.
    package mutating func next() -> Step {
        if let feed = nextFeed() {
            let line = start..<feed
            (start, searched) = (feed + 1, feed + 1)
            return line.count > limit ? .tooLong : .line(line, isTerminated: true)
        }
        if end - start > limit { return .tooLong }
        guard isFinished else { return .needsMore }
        guard start < end else { return .end }
        defer { (start, searched) = (end, end) }
        return .line(start..<end, isTerminated: false)
    }

    /// The unread bytes, as far as the next line may reach.
    var unread: Range<Int> { start..<(end - start > limit ? start + limit + 1 : end) }

    /// Passes lines that the caller has found in the unread bytes, up to the start of another one.
    mutating func skip(to place: Int) {
        (start, searched) = (place, place)
    }

    /// Whether a line contains only white space.
    package func isBlank(_ line: Range<Int>) -> Bool {
        bytes[line].allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
    }

    private mutating func nextFeed() -> Int? {
        let found = bytes.span.firstOffset(of: UInt8(ascii: "\n"), in: searched..<end)
        searched = found ?? end
        return found
    }
}
