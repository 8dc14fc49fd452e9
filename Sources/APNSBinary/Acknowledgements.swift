import APNSModel

/// Which notifications the peer's kernel has, and since when: silence counts from there, because a black-holed link is
/// silent too.
struct Acknowledgements: Sendable {
    private struct Mark: Sendable {
        /// The sequence number behind the last notification that ends at or before `offset`.
        var end: UInt64
        /// How many bytes of the stream must have arrived for that.
        var offset: UInt64
        /// When we learned that they had.
        var since: Moment?
    }

    private var marks: [Mark] = []
    private var head = 0
    /// Marks before it have a moment.
    private var firstOpen = 0

    /// Whether something written is not yet known to have arrived.
    var isWaiting: Bool { firstOpen < marks.count }

    /// When the oldest mark arrived, if it did.
    var oldestArrival: Moment? { head < firstOpen ? marks[head].since : nil }

    /// Notes that everything before `end` lies in the first `offset` bytes of the stream.
    mutating func add(end: UInt64, offset: UInt64) {
        marks.append(Mark(end: end, offset: offset, since: nil))
    }

    /// Notes that the peer's kernel has acknowledged the first `offset` bytes.
    mutating func acknowledge(_ offset: UInt64, at now: Moment) {
        while firstOpen < marks.count, marks[firstOpen].offset <= offset {
            marks[firstOpen].since = now
            firstOpen += 1
        }
    }

    /// Removes the marks that arrived no later than `moment` and returns the end of the last of them.
    mutating func removeArrived(by moment: Moment) -> UInt64? {
        var end: UInt64?
        while head < firstOpen, let since = marks[head].since, since <= moment {
            end = marks[head].end
            head += 1
        }
        if head > 64, head * 2 > marks.count {
            marks.removeFirst(head)
            (firstOpen, head) = (firstOpen - head, 0)
        }
        return end
    }

    /// The end of what lies wholly in the first `offset` bytes; `nil` when nothing noted does.
    func end(within offset: UInt64) -> UInt64? {
        marks[head...].last { $0.offset <= offset }?.end
    }
}
