/// Where in the stream of bytes requests ended, to tell at its end which of them never left.
struct DeliveryMarks: Sendable {
    private var marks: [(end: Int, offset: Int)] = []
    private var head = 0
    /// The end of the marks that were dropped.
    private var passed = 0

    /// Notes that the requests before the place `end` lie in the first `offset` bytes.
    ///
    /// To be called once per TLS record, which a peer cannot read in part: what lies behind the last whole mark was
    /// certainly not processed.
    mutating func add(end: Int, offset: Int) {
        guard end > (marks.last?.end ?? passed) else { return }
        marks.append((end, offset))
    }

    /// The place behind the last request that may have left, when the kernel has taken `offset` bytes. Forgets those before.
    mutating func end(within offset: Int) -> Int {
        while head < marks.count, marks[head].offset <= offset {
            passed = marks[head].end
            head += 1
        }
        if head > 64, head * 2 > marks.count {
            marks.removeFirst(head)
            head = 0
        }
        return passed
    }
}
