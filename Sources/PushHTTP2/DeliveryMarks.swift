import PushModel

/// Tracks where requests end in the byte stream, to determine which of them the gateway cannot have received
/// completely, and which may still reach it.
///
/// A request is complete with its END_STREAM (RFC 9113 §8.1). Servers do not act on it before that. All operations cost
/// O(1), amortized, unless they say otherwise.
struct DeliveryMarks: Sendable {
    /// The places before `end` lie in the first `offset` bytes.
    private typealias Mark = (end: Int, offset: Int)

    /// The marks that the kernel has not taken, and those taken whose requests may be unanswered.
    private var (marks, taken) = (Queue<Mark>(), Queue<Mark>())
    /// The place after the last request at the last mark, and the length of the stream there.
    private var (end, offset) = (0, 0)
    /// The place after the last request whose head may have left, and the number of bytes that the kernel has taken.
    private var (passed, takenByteCount) = (0, 0)
    /// The places of the requests whose bodies were split from their heads and are not written completely.
    private var unfinished = Set<Int>()
    /// The length of the stream that each separate body ends behind, if it was written completely and its request is open.
    private var bodies: [Int: Int] = [:]

    /// Notes that the body of the request at `place` is sent separately, after its head.
    mutating func begin(_ place: Int) {
        unfinished.insert(place)
    }

    /// Notes that the end of that body was written after the last mark.
    mutating func finish(_ place: Int) {
        guard unfinished.remove(place) != nil else { return }
        bodies[place] = offset
    }

    /// Drops the body of a request that is closed.
    mutating func forget(_ place: Int) {
        // Called for every answer: even looking into an empty set would hash.
        if !unfinished.isEmpty { unfinished.remove(place) }
        if !bodies.isEmpty { bodies[place] = nil }
    }

    /// Drops what is known of the heads before `place`, all of which are answered.
    mutating func trim(before place: Int) {
        while let mark = taken.first, mark.end <= place { _ = taken.popFirst() }
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

    /// Notes that the kernel has taken `offset` bytes.
    mutating func advance(to offset: Int) {
        takenByteCount = max(takenByteCount, offset)
        while let mark = marks.first, mark.offset <= offset {
            passed = mark.end
            taken.append(mark)
            _ = marks.popFirst()
        }
    }

    /// Whether the kernel has taken every request byte that was written. Costs O(*n*) in the number of separate bodies.
    var isPassed: Bool { marks.isEmpty && bodies.values.allSatisfy { $0 < takenByteCount } }

    /// Whether the gateway may have the complete request, according to the last known progress of the kernel.
    func hasLeft(_ place: Int) -> Bool {
        place < passed && !unfinished.contains(place) && bodies[place].map { $0 < takenByteCount } ?? true
    }

    /// Whether the end of the request has not been written yet.
    func isUnfinished(_ place: Int) -> Bool { unfinished.contains(place) }

    /// Whether the peer's kernel has all requests at these ascending places, which are not trimmed, if it has
    /// acknowledged `byteCount` bytes. If not, no other connection may repeat them while this one lives. Costs O(*n*).
    func areAcknowledged(_ places: [Int], within byteCount: Int) -> Bool {
        guard let last = places.last else { return true }
        guard let head = taken.first(where: { $0.end > last }), head.offset <= byteCount else { return false }
        return places.allSatisfy { bodies[$0].map { $0 < byteCount } ?? true }
    }
}
