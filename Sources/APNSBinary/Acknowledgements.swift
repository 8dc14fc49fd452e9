import PushModel

/// Tracks which notifications the peer's kernel has received, and since when. Silence counts from that time, because a
/// black-holed link is silent too.
struct Acknowledgements: Sendable {
    private struct Mark: Sendable {
        /// The sequence number after the last notification that ends at or before `offset`.
        var end: UInt64
        /// The number of bytes of the stream that must have arrived.
        var offset: UInt64
        /// When their arrival became known.
        var since: Moment?
    }

    private var marks: [Mark] = []
    private var head = 0
    /// The index of the first mark that has not arrived.
    private var firstOpen = 0

    /// Whether some written bytes are not known to have arrived.
    var isWaiting: Bool { firstOpen < marks.count }

    /// When the oldest mark arrived; `nil` if it has not.
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

    /// The end of the notifications that lie completely in the first `offset` bytes; `nil` if no mark does.
    func end(within offset: UInt64) -> UInt64? {
        marks[head...].last { $0.offset <= offset }?.end
    }
}
