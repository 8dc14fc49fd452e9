/// Where in the stream of bytes requests ended, to tell which of them the gateway cannot have whole.
///
/// A request is whole with its END_STREAM (RFC 9113 §8.1), and before that nobody acts on it.
struct DeliveryMarks: Sendable {
    /// How far the body of a request has come that did not go out with its head.
    private enum Body: Sendable {
        case unfinished
        /// Its end lies behind the stream's first so many bytes.
        case ends(behind: Int)
    }

    private var marks: [(end: Int, offset: Int)] = []
    private var head = 0
    /// Where the stream ended when it was marked last.
    private var offset = 0
    /// The place behind the last request whose head may have left.
    private var passed = 0
    /// The bodies that follow their heads and have not left whole, by the places of their requests.
    private var bodies: [Int: Body] = [:]

    /// Notes that the body of the request at `place` comes behind its head.
    mutating func begin(_ place: Int) {
        bodies[place] = .unfinished
    }

    /// Notes that the end of such a body is written, behind the last mark.
    mutating func finish(_ place: Int) {
        if bodies[place] != nil { bodies[place] = .ends(behind: offset) }
    }

    /// Notes that the requests before the place `end`, and all that was written so far, lie in the first `offset` bytes.
    ///
    /// To be called once per TLS record, which a peer cannot read in part: what lies behind the last whole mark was
    /// certainly not processed.
    mutating func add(end: Int, offset: Int) {
        self.offset = offset
        if end > (marks.last?.end ?? passed) { marks.append((end, offset)) }
    }

    /// Notes that the kernel has taken `offset` bytes, and forgets what they hold.
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

    /// Forgets bodies that nobody waits for any more.
    mutating func forgetBodies(besides isWanted: (Int) -> Bool) {
        bodies = bodies.filter { isWanted($0.key) }
    }

    /// Whether bodies are known that have not left.
    var hasBodies: Bool { !bodies.isEmpty }

    /// Whether the kernel has taken all that was written of requests.
    var isPassed: Bool {
        head == marks.count && bodies.values.allSatisfy { if case .unfinished = $0 { true } else { false } }
    }

    /// Whether the gateway may have all of the request, as far as the kernel was last known to have taken bytes.
    func hasLeft(_ place: Int) -> Bool { place < passed && bodies[place] == nil }

    /// Whether the end of the request is not even written.
    func isUnfinished(_ place: Int) -> Bool {
        if case .unfinished = bodies[place] { true } else { false }
    }
}
