import APNSModel

/// The requests that a connection has written and that have no answer yet, by the place of their streams.
///
/// A client's streams are numbered 1, 3, 5 and so on, so the n-th request of a connection has stream 2n + 1, and a flag
/// for each place behind the oldest open one is all that is needed. Answers come in any order.
struct RequestWindow: Sendable {
    private struct Run: Stretch {
        var batch: Batch
        var end: Int
        let sentAt: Moment
        /// What turns a place into an index of the job.
        let shift: Int
    }

    /// How far the newest request may be ahead of the oldest open one: a stream that hangs would otherwise keep the batches
    /// of all that follow it in memory.
    static let spanLimit = 1 << 18

    /// How far apart the writing of two requests may be that count as written together.
    private static let grain = Duration.milliseconds(50)

    private var runs = Stretches<Run>()
    /// Whether the place `base + n` is open. The places below `trimmed` are kept for a while, to be removed together.
    private var flags: [Bool] = []
    private var base = 0
    private var trimmed = 0
    private var writes = WriteTimes()
    /// How many requests are open.
    private(set) var count = 0

    /// The stream of a place.
    static func stream(at place: Int) -> UInt32 { UInt32(truncatingIfNeeded: 2 * place + 1) }

    /// The place of a stream.
    static func place(of stream: UInt32) -> Int { Int(stream / 2) }

    /// How many more may be written.
    var room: Int { Self.spanLimit - (flags.count - trimmed) }

    /// The place behind the newest request.
    var end: Int { base + flags.count }

    /// When the oldest open request was written.
    var oldest: Moment? { runs.first?.sentAt }

    /// Adds the requests of a batch, whose first has the place behind the newest.
    mutating func append(_ batch: Batch, at now: Moment) {
        let first = base + flags.count
        flags.append(contentsOf: repeatElement(true, count: batch.count))
        count += batch.count
        let end = first + batch.count
        writes.note(end: end, at: now)
        let isMerged = runs.changeLast { last in
            guard now - last.sentAt < Self.grain, last.batch.merge(batch) else { return false }
            last.end = end
            return true
        }
        if !isMerged {
            runs.append(Run(batch: batch, end: end, sentAt: now, shift: batch.indices.lowerBound - first))
        }
    }

    /// Whether the request has no answer yet.
    func isOpen(_ place: Int) -> Bool {
        flags.indices.contains(place - base) && flags[place - base]
    }

    /// Notes that a request is over. Returns whether it was open.
    mutating func close(_ place: Int) -> Bool {
        guard isOpen(place) else { return false }
        flags[place - base] = false
        count -= 1
        return true
    }

    /// The notifications of ascending places, as few batches as possible. To be called before `trim`.
    func batches(at places: [Int]) -> [Batch] {
        var batches: [Batch] = []
        var (run, index) = (runs.index(of: places.first ?? 0), 0)
        while index < places.count, run < runs.indices.upperBound {
            let (start, limit) = (places[index], runs[run].end)
            guard start < limit else {
                run += 1
                continue
            }
            var end = index + 1
            while end < places.count, places[end] == places[end - 1] + 1, places[end] < limit { end += 1 }
            let shift = runs[run].shift
            batches.append(runs[run].batch[start + shift..<places[end - 1] + 1 + shift])
            index = end
        }
        return batches
    }

    /// Adds how long answers took that came now, of ascending places. To be called before `trim`.
    func tally(_ places: [Int], at now: Moment, into times: inout Histogram) {
        writes.tally(places, at: now, into: &times)
    }

    /// Closes all open requests from `place` on, and returns their places.
    mutating func closeAll(from place: Int = 0) -> [Int] {
        let start = max(0, place - base, trimmed)
        guard start < flags.count else { return [] }
        let open = (start..<flags.count).filter { flags[$0] }
        for index in open { flags[index] = false }
        count -= open.count
        return open.map { base + $0 }
    }

    /// Closes all open requests that were written at `moment` or before, and returns their places.
    mutating func closeAll(writtenBy moment: Moment) -> [Int] {
        let late = runs.indices.prefix { runs[$0].sentAt <= moment }
        guard let end = late.last.map({ runs[$0].end }) else { return [] }
        let open = (trimmed..<end - base).filter { flags[$0] }
        for index in open { flags[index] = false }
        count -= open.count
        return open.map { base + $0 }
    }

    /// Forgets what lies before the oldest open request.
    mutating func trim() {
        while trimmed < flags.count, !flags[trimmed] { trimmed += 1 }
        runs.trim(before: base + trimmed)
        writes.trim(before: base + trimmed)
        if trimmed > 4_096, trimmed * 2 > flags.count {
            flags.removeFirst(trimmed)
            (base, trimmed) = (base + trimmed, 0)
        }
    }
}
