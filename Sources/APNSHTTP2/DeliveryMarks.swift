import APNSModel

/// Tracks where requests end in the byte stream, to determine which of them the gateway cannot have received
/// completely.
///
/// A request is complete with its END_STREAM (RFC 9113 §8.1). Servers do not act on it before that. All operations cost
/// O(1), amortized.
struct DeliveryMarks: Sendable {
    /// The progress of a request body that was not sent together with its head.
    private enum Body: Sendable {
        case unfinished
        /// It was written completely, and has not left completely.
        case written
    }

    private var marks = Queue<(end: Int, offset: Int)>()
    /// The place after the last request at the last mark, and the length of the stream there.
    private var (end, offset) = (0, 0)
    /// The place after the last request whose head may have left.
    private var passed = 0
    /// The bodies that were split from their heads and have not left completely, by the places of their requests.
    private var bodies: [Int: Body] = [:]
    /// The number of bodies that were written completely.
    private var writtenCount = 0
    /// The bodies that were written completely, in that order, with the length of the stream that each ends behind. Some
    /// may have been dropped since.
    private var written = Queue<(place: Int, behind: Int)>()

    /// Notes that the body of the request at `place` is sent separately, after its head.
    mutating func begin(_ place: Int) {
        bodies[place] = .unfinished
    }

    /// Notes that the end of that body was written after the last mark.
    mutating func finish(_ place: Int) {
        guard case .unfinished = bodies[place] else { return }
        bodies[place] = .written
        writtenCount += 1
        written.append((place: place, behind: offset))
    }

    /// Drops the body of a request that is closed.
    mutating func forget(_ place: Int) {
        guard !bodies.isEmpty, case .written = bodies.removeValue(forKey: place) else { return }
        writtenCount -= 1
    }

    /// Notes that the requests before the place `end`, and everything written so far, lie in the first `offset` bytes.
    ///
    /// Call it once per TLS record. A peer cannot read part of a record, so bytes after the last complete mark were
    /// certainly not processed.
    mutating func add(end: Int, offset: Int) {
        self.offset = offset
        guard end > self.end else { return }
        self.end = end
        marks.append((end: end, offset: offset))
    }

    /// Notes that the kernel has taken `offset` bytes, and drops the marks within them.
    mutating func advance(to offset: Int) {
        while let mark = marks.first, mark.offset <= offset {
            passed = mark.end
            _ = marks.popFirst()
        }
        while let body = written.first, body.behind < offset {
            forget(body.place)
            _ = written.popFirst()
        }
    }

    /// Whether the kernel has taken every request byte that was written.
    var isPassed: Bool { marks.isEmpty && writtenCount == 0 }

    /// Whether the gateway may have the complete request, according to the last known progress of the kernel.
    func hasLeft(_ place: Int) -> Bool { place < passed && bodies[place] == nil }

    /// Whether the end of the request has not been written yet.
    func isUnfinished(_ place: Int) -> Bool {
        if case .unfinished = bodies[place] { true } else { false }
    }
}
