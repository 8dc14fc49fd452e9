import APNSModel

/// Answers that take a while, in the order in which they are due.
struct PendingAnswers {
    /// An answer and the stream to give it on.
    struct Entry {
        let due: Moment
        let stream: UInt32
        let id: [UInt8]
        let answer: RequestAnswer
    }

    private var entries: [Entry] = []
    /// The entries before this place are done with.
    private var start = 0

    /// When the next one is due.
    var nextDue: Moment? { start < entries.count ? entries[start].due : nil }

    mutating func add(_ entry: Entry) {
        var place = entries.count
        while place > start, entries[place - 1].due > entry.due { place -= 1 }
        entries.insert(entry, at: place)
    }

    /// Takes the next one, if it is due.
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

    /// Drops them all.
    mutating func removeAll() {
        entries.removeAll()
        start = 0
    }
}
