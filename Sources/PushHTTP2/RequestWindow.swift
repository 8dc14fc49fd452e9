import PushModel

/// The requests of a connection that are written and unanswered, by their places.
///
/// A client's streams are numbered 1, 3, 5 and so on. The request at place n has stream 2n + 1, so one flag for each
/// place after the oldest open one suffices. Answers arrive in any order.
struct RequestWindow: Sendable {
    private struct Run: EndedRun {
        var batch: Batch
        var end: Int
        let sentAt: Moment
        /// The difference between a place and the job's index.
        let shift: Int
    }

    /// How far the newest request may be ahead of the oldest open one. Without a limit, a hanging stream would keep the
    /// batches of all later requests in memory.
    static let spanLimit = 1 << 18

    /// Requests written within this time count as written together.
    private static let grain = Duration.milliseconds(50)

    private var runs = Runs<Run>()
    /// Whether the place `base + n` is open. The places below `trimmed` are kept for a while and removed together.
    private var flags: [Bool] = []
    private var base = 0
    private var trimmed = 0
    private var writes = WriteTimes()
    private var answerSize = AnswerSize()
    /// The number of open requests.
    private(set) var count = 0

    /// The stream id of a place.
    static func stream(at place: Int) -> UInt32 { UInt32(truncatingIfNeeded: 2 * place + 1) }

    /// The place of a stream id.
    static func place(of stream: UInt32) -> Int { Int(stream / 2) }

    /// How many more requests may be written.
    var room: Int { Self.spanLimit - (flags.count - trimmed) }

    /// The place of the oldest open request, as of the last `trim`.
    var start: Int { base + trimmed }

    /// The place after the newest request.
    var end: Int { base + flags.count }

    /// When the oldest open request was written.
    var oldest: Moment? { runs.first?.sentAt }

    /// Adds the requests of a batch at the places after the newest.
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

    /// Notes that a request has ended. Returns whether it was open.
    mutating func close(_ place: Int) -> Bool {
        guard isOpen(place) else { return false }
        flags[place - base] = false
        count -= 1
        return true
    }

    /// The notifications at ascending places, in as few batches as possible. Call it before `trim`.
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

    /// Adds the answer times of requests answered now, at ascending places. Call it before `trim`.
    mutating func tally(_ places: [Int], at now: Moment, into times: inout Histogram) {
        writes.tally(places, at: now, into: &times)
    }

    /// The shortest answer time so far, and a moving mean of them, in nanoseconds; `nil` before the first answer.
    var answerTimes: (shortest: Int64, usual: Int64)? {
        writes.shortest == .max ? nil : (writes.shortest, writes.usual)
    }

    /// Returns how many bytes an answer takes, if so many were read so far; see `AnswerSize`.
    mutating func meanAnswer(after byteCount: Int) -> Int? { answerSize.note(byteCount, answered: end - count) }

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

    /// Drops the places before the oldest open request.
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
