import APNSModel

/// Tracks where requests end in the byte stream, to determine which of them the gateway cannot have received
/// completely.
///
/// A request is complete with its END_STREAM (RFC 9113 §8.1). Servers do not act on it before that. All operations cost
/// O(1), amortized.
struct DeliveryMarks: Sendable {
    private var marks = Queue<(end: Int, offset: Int)>()
    /// The place after the last request at the last mark, and the length of the stream there.
    private var (end, offset) = (0, 0)
    /// The place after the last request whose head may have left.
    private var passed = 0
    /// The places of the requests whose bodies were split from their heads and are not written completely, and of those
    /// whose bodies are, but have not left completely.
    private var (unfinished, written) = (Set<Int>(), Set<Int>())
    /// The bodies that were written completely, in that order, with the length of the stream that each ends behind. Some
    /// may have been dropped since.
    private var ends = Queue<(place: Int, behind: Int)>()

    /// Notes that the body of the request at `place` is sent separately, after its head.
    mutating func begin(_ place: Int) {
        unfinished.insert(place)
    }

    /// Notes that the end of that body was written after the last mark.
    mutating func finish(_ place: Int) {
        guard unfinished.remove(place) != nil else { return }
        written.insert(place)
        ends.append((place: place, behind: offset))
    }

    /// Drops the body of a request that is closed.
    mutating func forget(_ place: Int) {
        // Called for every answer: even looking into an empty set would hash.
        if !unfinished.isEmpty { unfinished.remove(place) }
        if !written.isEmpty { written.remove(place) }
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
        while let body = ends.first, body.behind < offset {
            written.remove(body.place)
            _ = ends.popFirst()
        }
    }

    /// Whether the kernel has taken every request byte that was written.
    var isPassed: Bool { marks.isEmpty && written.isEmpty }

    /// Whether the gateway may have the complete request, according to the last known progress of the kernel.
    func hasLeft(_ place: Int) -> Bool { place < passed && !unfinished.contains(place) && !written.contains(place) }

    /// Whether the end of the request has not been written yet.
    func isUnfinished(_ place: Int) -> Bool { unfinished.contains(place) }
}
