import APNSModel

/// When requests were written, by their places: for telling how long answers took, to the millisecond.
///
/// `RequestWindow` keeps requests together that were written within more than that, so that they come back as few batches.
struct WriteTimes: Sendable {
    private struct Write: Sendable {
        var end: Int
        let at: Moment
    }

    /// How far apart two writes may be that count as one.
    private static let grain = Duration.milliseconds(1).wholeNanoseconds

    private var writes: [Write] = []
    private var head = 0

    /// Notes that the requests behind those noted before, up to the place `end`, were written now.
    mutating func note(end: Int, at now: Moment) {
        if head < writes.count, now.nanoseconds &- writes[writes.count - 1].at.nanoseconds < Self.grain {
            writes[writes.count - 1].end = end
        } else {
            writes.append(Write(end: end, at: now))
        }
    }

    /// Adds how long it took until now for each of these places, which ascend and are not forgotten.
    func tally(_ places: [Int], at now: Moment, into times: inout Histogram) {
        guard let first = places.first else { return }
        var (write, index) = (write(of: first), 0)
        while index < places.count, write < writes.count {
            let (start, end) = (index, writes[write].end)
            while index < places.count, places[index] < end { index += 1 }
            if index > start { times.add(index - start, nanoseconds: now.nanoseconds &- writes[write].at.nanoseconds) }
            write += 1
        }
    }

    /// Forgets what lies before a place.
    mutating func trim(before place: Int) {
        while head < writes.count, writes[head].end <= place { head += 1 }
        if head > 64, head * 2 > writes.count {
            writes.removeFirst(head)
            head = 0
        }
    }

    /// The write that holds a place, by bisection.
    private func write(of place: Int) -> Int {
        var (low, high) = (head, writes.count)
        while low < high {
            let middle = (low + high) / 2
            if writes[middle].end <= place { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
