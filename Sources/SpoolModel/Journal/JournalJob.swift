import APNSModel

/// What the journal knows of a live job: one that has a header and was not cleaned.
package struct JournalJob: Sendable {
    /// The facts of its header.
    package let facts: JournalHeader.Facts
    /// Whether its bytes are in its header record.
    package let holdsBytes: Bool
    /// Where its header record is.
    package var position: JournalPosition { place.position }
    /// How many bytes that record has in the file.
    package var headerByteCount: Int { place.byteCount }
    /// Whether its file was in `work/`.
    package internal(set) var isClaimed = false
    /// What has no outcome yet.
    package internal(set) var remaining: IndexRuns
    /// What became of the rest.
    package internal(set) var tally = Tally()
    /// Which were rejected.
    package internal(set) var rejected = IndexRuns()
    /// Which expired.
    package internal(set) var expired = IndexRuns()
    /// Which were given up.
    package internal(set) var unsent = IndexRuns()
    /// Which are in doubt.
    package internal(set) var unknown = IndexRuns()
    /// Which were about to be sent and have no outcome: in doubt, if the daemon died.
    package internal(set) var intents = IndexRuns()
    /// How it ended.
    package internal(set) var final: JournalFinal?
    /// Whether the `job` line is out.
    package internal(set) var isFinalTold = false
    /// Whether a damaged part of the journal may have told more of it.
    package internal(set) var isDamaged = false
    /// The last record whose feedback line is not known to be out.
    package internal(set) var untoldThrough: JournalPosition?
    /// The results whose lines are not known to be out; only a replay keeps them, a book does not.
    package var untold: [JournalResult] { untoldResults.map(\.result) }

    /// Where its header record is, and how it is checked.
    let place: JournalPlace
    var untoldResults: [(position: JournalPosition, result: JournalResult)] = []
    private var finalPosition: JournalPosition?

    /// Which have which outcome, by the outcome's word, but for those accepted.
    package var runs: [String: IndexRuns] {
        let all = [
            "rejected": rejected, Outcome.expired.word: expired, "unsent": unsent, Outcome.unknown.word: unknown,
        ]
        return all.filter { !$0.value.isEmpty }
    }

    /// Whether anything was recorded after its header.
    package var isTouched: Bool {
        isClaimed || final != nil || !intents.isEmpty || remaining.count < facts.recipientCount
    }

    /// The job that a header announces.
    init(_ header: JournalHeader, at place: JournalPlace) {
        self.facts = header.facts
        self.holdsBytes = header.holdsBytes
        self.place = place
        self.remaining = IndexRuns(0..<header.facts.recipientCount)
    }
}

extension JournalJob {
    /// An upper bound of what it takes to write the job once more.
    var carriedByteCount: Int {
        let runCount =
            remaining.runs.count + rejected.runs.count + expired.runs.count + unsent.runs.count + unknown.runs.count
            + intents.runs.count
        return headerByteCount + Self.byteCount(ofRuns: runCount)
    }

    /// An upper bound of what it takes beside the header, with so many runs of indices.
    static func byteCount(ofRuns count: Int) -> Int { fixedByteCount + count * runByteCount }

    /// The end, the checkpoint, and the heads of records that are not full.
    static let fixedByteCount = 2048
    /// A gap and a length, and a share in the head of their record.
    private static let runByteCount = 12

    /// Counts outcomes; `keepingLine` remembers what its feedback lines need.
    mutating func apply(_ result: JournalResult, at position: JournalPosition, keepingLine: Bool) {
        for range in result.ranges {
            let range = range.clamped(to: 0..<facts.recipientCount)
            if result.isCorrection {
                correct(range, result.outcome)
            } else {
                settle(range, result.outcome)
            }
            if !intents.isEmpty { intents.subtract(range) }
        }
        guard result.outcome != .accepted || facts.recordsAll || result.isCorrection else { return }
        untoldThrough = position
        if keepingLine { untoldResults.append((position, result)) }
    }

    private mutating func settle(_ range: Range<Int>, _ outcome: Outcome) {
        if outcome == .accepted {
            tally.add(.accepted, count: remaining.subtract(range))
            return
        }
        for part in remaining.intersection(range) { note(part, outcome) }
        tally.add(outcome, count: remaining.subtract(range))
    }

    private mutating func correct(_ range: Range<Int>, _ outcome: Outcome) {
        let count = note(range, outcome)
        tally.add(.accepted, count: -count)
        tally.add(outcome, count: count)
    }

    @discardableResult
    private mutating func note(_ range: Range<Int>, _ outcome: Outcome) -> Int {
        switch outcome {
        case .accepted: 0
        case .rejected: rejected.insert(range)
        case .expired: expired.insert(range)
        case .unsent: unsent.insert(range)
        case .unknown: unknown.insert(range)
        }
    }

    mutating func intend(_ ranges: [Range<Int>]) {
        for range in ranges {
            for part in remaining.intersection(range) { intents.insert(part) }
        }
    }

    /// What has no outcome after all goes on, even if the job had ended.
    mutating func reopen(_ ranges: [Range<Int>]) {
        for range in ranges {
            let range = range.clamped(to: 0..<facts.recipientCount)
            tally.add(.accepted, count: -remaining.insert(range))
            intents.subtract(range)
        }
        if !remaining.isEmpty { (final, finalPosition, isFinalTold) = (nil, nil, false) }
    }

    mutating func end(_ final: JournalFinal, at position: JournalPosition) {
        (self.final, finalPosition, isFinalTold) = (final, position, false)
    }

    /// Forgets the lines that are out.
    mutating func markTold(through position: JournalPosition) {
        untoldResults.removeFirst(untoldResults.prefix { $0.position <= position }.count)
        if let last = untoldThrough, last <= position { untoldThrough = nil }
        if let end = finalPosition, end <= position { isFinalTold = true }
    }

    /// Takes part of a job that is carried forward; `remaining` must be empty before the first.
    mutating func apply(_ runs: JournalRuns) {
        for range in runs.ranges {
            let range = range.clamped(to: 0..<facts.recipientCount)
            switch runs.kind {
            case .remaining: remaining.insert(range)
            case .rejected: rejected.insert(range)
            case .expired: expired.insert(range)
            case .unsent: unsent.insert(range)
            case .unknown: unknown.insert(range)
            case .intended: intents.insert(range)
            }
        }
    }

    /// Ends the job that is carried forward.
    mutating func apply(_ checkpoint: JournalCheckpoint) {
        tally = checkpoint.tally
        isClaimed = checkpoint.isClaimed
        isFinalTold = checkpoint.isFinalTold
        isDamaged = checkpoint.isDamaged
    }

    /// What a job that is carried forward begins with.
    static func carried(_ header: JournalHeader, at place: JournalPlace) -> JournalJob {
        var job = JournalJob(header, at: place)
        job.remaining = IndexRuns()
        return job
    }
}
