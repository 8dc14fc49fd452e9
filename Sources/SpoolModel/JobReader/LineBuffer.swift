/// Cuts bytes that come in pieces into lines, holding no more than one piece and one line.
package struct LineBuffer: Sendable {
    /// What the next bytes are.
    package enum Step: Hashable, Sendable {
        /// A line, without its line feed.
        case line(Range<Int>, isTerminated: Bool)
        /// A line beyond the limit.
        case tooLong
        /// No whole line is there.
        case needsMore
        /// Nothing comes any more.
        case end
    }

    /// How many readable bytes follow the last one, which saves a JSON parser a copy.
    private static let padding = 64

    /// The bytes that ranges of lines count in, with padding behind them.
    package private(set) var bytes: [UInt8] = []
    /// Whether no bytes come any more.
    package var isFinished = false
    private let limit: Int
    private var start = 0
    private var searched = 0
    private var end = 0

    /// Creates one for lines of at most `limit` bytes.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Adds bytes behind those not taken yet.
    package mutating func append(_ piece: some Collection<UInt8>) {
        var joined: [UInt8] = []
        joined.reserveCapacity(end - start + piece.count + Self.padding)
        joined.append(contentsOf: bytes[start..<end])
        joined.append(contentsOf: piece)
        (searched, start, end) = (searched - start, 0, joined.count)
        joined.append(contentsOf: repeatElement(0, count: Self.padding))
        bytes = joined
    }

    /// Takes the next line.
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

    /// Whether a line has nothing but white space.
    package func isBlank(_ line: Range<Int>) -> Bool {
        bytes[line].allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
    }

    private mutating func nextFeed() -> Int? {
        let found = firstFeed(in: searched..<end)
        searched = found ?? end
        return found
    }

    private func firstFeed(in range: Range<Int>) -> Int? {
        let span = bytes.span
        for position in range where span[position] == UInt8(ascii: "\n") { return position }
        return nil
    }
}
