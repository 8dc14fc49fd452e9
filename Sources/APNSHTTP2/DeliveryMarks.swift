/// Tracks where requests end in the byte stream, to determine which of them the gateway cannot have received
/// completely.
///
/// A request is complete with its END_STREAM (RFC 9113 §8.1). Servers do not act on it before that.
struct DeliveryMarks: Sendable {
    /// The progress of a request body that was not sent together with its head.
    private enum Body: Sendable {
        case unfinished
        /// It was written after this many bytes of the stream.
        case ends(behind: Int)
    }

    private var marks: [(end: Int, offset: Int)] = []
    private var head = 0
    /// The length of the stream at the last mark.
    private var offset = 0
    /// The place after the last request whose head may have left.
    private var passed = 0
    /// The bodies that were split from their heads and have not left completely, by the places of their requests.
    private var bodies: [Int: Body] = [:]

    /// Notes that the body of the request at `place` is sent separately, after its head.
    mutating func begin(_ place: Int) {
        bodies[place] = .unfinished
    }

    /// Notes that the end of that body was written after the last mark.
    mutating func finish(_ place: Int) {
        if bodies[place] != nil { bodies[place] = .ends(behind: offset) }
    }

    /// Notes that the requests before the place `end`, and everything written so far, lie in the first `offset` bytes.
    ///
    /// Call it once per TLS record. A peer cannot read part of a record, so bytes after the last complete mark were
    /// certainly not processed.
    mutating func add(end: Int, offset: Int) {
        self.offset = offset
        if end > (marks.last?.end ?? passed) { marks.append((end, offset)) }
    }

    /// Notes that the kernel has taken `offset` bytes, and drops the marks within them.
    mutating func advance(to offset: Int) {
        while head < marks.count, marks[head].offset <= offset {
            passed = marks[head].end
            head += 1
        }
        if head > 64, head * 2 > marks.count {
            marks.removeFirst(head)
            head = 0
        }
        guard !bodies.isEmpty else { return }
        bodies = bodies.filter { _, body in
            if case .ends(let start) = body { start >= offset } else { true }
        }
    }

    /// Drops the bodies of closed requests.
    mutating func forgetBodies(besides isWanted: (Int) -> Bool) {
        bodies = bodies.filter { isWanted($0.key) }
    }

    /// Whether there are bodies that have not left completely.
    var hasBodies: Bool { !bodies.isEmpty }

    /// Whether the kernel has taken every request byte that was written.
    var isPassed: Bool {
        head == marks.count && bodies.values.allSatisfy { if case .unfinished = $0 { true } else { false } }
    }

    /// Whether the gateway may have the complete request, according to the last known progress of the kernel.
    func hasLeft(_ place: Int) -> Bool { place < passed && bodies[place] == nil }

    /// Whether the end of the request has not been written yet.
    func isUnfinished(_ place: Int) -> Bool {
        if case .unfinished = bodies[place] { true } else { false }
    }
}
