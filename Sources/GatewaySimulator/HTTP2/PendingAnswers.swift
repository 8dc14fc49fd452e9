import PushModel

/// Delayed answers, in the order in which they are due.
struct PendingAnswers {
    /// An answer and its stream.
    struct Entry {
        let due: Moment
        let stream: UInt32
        let id: [UInt8]
        let answer: RequestAnswer
    }

    private var entries: [Entry] = []
    /// The number of leading entries that have been sent.
    private var start = 0

    /// The moment at which the next answer is due.
    var nextDue: Moment? { start < entries.count ? entries[start].due : nil }

    mutating func add(_ entry: Entry) {
        var place = entries.count
        while place > start, entries[place - 1].due > entry.due { place -= 1 }
        entries.insert(entry, at: place)
    }

    /// Removes and returns the next answer if it is due.
    mutating func next(at now: Moment) -> Entry? {
        guard let nextDue, nextDue <= now else { return nil }
        defer {
            start += 1
            if start == entries.count || start > 1_024 {
                entries.removeFirst(start)
                start = 0
            }
        }
        return entries[start]
    }

    /// Drops all answers.
    mutating func removeAll() {
        entries.removeAll()
        start = 0
    }
}
