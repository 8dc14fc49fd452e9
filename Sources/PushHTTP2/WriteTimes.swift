import PushModel

/// The times at which requests were written, by place, to measure answer times to the millisecond.
///
/// `RequestWindow` groups requests over a longer time, so that they come back in few batches.
struct WriteTimes: Sendable {
    private struct Write: EndedRun {
        var end: Int
        let at: Moment
    }

    /// Writes within this time count as one.
    private static let grain = Duration.milliseconds(1).wholeNanoseconds

    private var writes = Runs<Write>()
    /// The shortest answer time so far, in nanoseconds: about the time to the gateway and back.
    private(set) var shortest = Int64.max
    /// A moving mean of the answer times, in nanoseconds. What it has beyond `shortest`, requests spend in queues.
    private(set) var usual = Int64.max

    /// Notes that the requests after those noted before, up to the place `end`, were written now.
    mutating func note(end: Int, at now: Moment) {
        let isNoted = writes.changeLast { last in
            guard now.nanoseconds &- last.at.nanoseconds < Self.grain else { return false }
            last.end = end
            return true
        }
        if !isNoted { writes.append(Write(end: end, at: now)) }
    }

    /// Adds the time from writing to now for each of these places, which must be ascending and not dropped yet.
    mutating func tally(_ places: [Int], at now: Moment, into times: inout Histogram) {
        guard let first = places.first else { return }
        var (write, index) = (writes.index(of: first), 0)
        while index < places.count, write < writes.indices.upperBound {
            let (start, end) = (index, writes[write].end)
            while index < places.count, places[index] < end { index += 1 }
            if index > start {
                let time = now.nanoseconds &- writes[write].at.nanoseconds
                times.add(index - start, nanoseconds: time)
                shortest = min(shortest, time)
                usual = usual == .max ? time : usual + (time - usual) / 16
            }
            write += 1
        }
    }

    /// Drops the times before a place.
    mutating func trim(before place: Int) {
        writes.trim(before: place)
    }
}
