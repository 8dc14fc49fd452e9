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
    /// Whether `rejected` and `expired` were too scattered to be kept: they are empty then, and the tally has only the numbers.
    package private(set) var isAbridged = false
    /// The results whose lines are not known to be out.
    package var untold: [JournalResult] { untoldResults.map(\.result) }
    /// Whether there are any.
    package var hasUntold: Bool { !untoldResults.isEmpty }

    /// Where its header record is, and how it is checked.
    let place: JournalPlace
    /// The same, each with its place: what a PUBLISHED record says of that place holds for it, wherever it was carried.
    private(set) var untoldResults: [JournalUntold] = []
    /// An upper bound of what they take to be written once more.
    private(set) var untoldByteCount = 0
    /// Where its end was recorded first.
    private(set) var finalPosition: JournalPosition?

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
        let setByteCount =
            Self.byteCount(of: remaining) + Self.byteCount(of: rejected) + Self.byteCount(of: expired)
            + Self.byteCount(of: unsent) + Self.byteCount(of: unknown) + Self.byteCount(of: intents)
        return headerByteCount + Self.fixedByteCount + facts.name.bytes.count + setByteCount + untoldByteCount
    }

    /// An upper bound of what the records of a set take: few runs as such, many as a bit for each index.
    private static func byteCount(of set: IndexRuns) -> Int {
        let count = set.runCount
        guard count > 16, let first = set.first, let last = set.last else { return count * runByteCount }
        let span = last.upperBound - first.lowerBound
        return min(count * runByteCount, span / 6 + count / 2 + 48)
    }

    /// An upper bound of what it takes beside the header, with so many runs of indices.
    static func byteCount(ofRuns count: Int) -> Int { fixedByteCount + count * runByteCount }

    /// The end without its name, the checkpoint, and the heads of records that are not full.
    static let fixedByteCount = 1024
    /// A gap and a length, and a share in the head of their record.
    private static let runByteCount = 12

    /// Counts outcomes, and remembers what their feedback lines need.
    mutating func apply(_ result: JournalResult, at position: JournalPosition) {
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
        add(JournalUntold(origin: position, result: result))
    }

    /// Takes a result whose lines are not known to be out.
    mutating func add(_ untold: JournalUntold) {
        untoldResults.append(untold)
        untoldByteCount += untold.byteCount
    }

    /// Lets go of which were rejected and which expired if that is too scattered to be written with so many bytes; how many they
    /// are stays. Nothing but the result file names them.
    mutating func abridge(to limit: Int) {
        guard isAbridged || Self.byteCount(of: rejected) + Self.byteCount(of: expired) > limit else { return }
        (rejected, expired, isAbridged) = (IndexRuns(), IndexRuns(), true)
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
    mutating func markTold(_ publication: JournalPublication) {
        if !untoldResults.isEmpty {
            untoldResults.removeAll { publication.covers($0.origin) }
            untoldByteCount = untoldResults.reduce(0) { $0 + $1.byteCount }
        }
        if let end = finalPosition, publication.covers(end) { isFinalTold = true }
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
        isAbridged = checkpoint.isAbridged
        if final != nil, let origin = checkpoint.finalOrigin { finalPosition = origin }
    }

    /// What a job that is carried forward begins with.
    static func carried(_ header: JournalHeader, at place: JournalPlace) -> JournalJob {
        var job = JournalJob(header, at: place)
        job.remaining = IndexRuns()
        return job
    }
}

extension JournalUntold {
    /// An upper bound of what it takes to be written: its reason, its times, its place, and its ranges.
    var byteCount: Int {
        let reasonByteCount = min(result.outcome.refusal?.reason.utf8.count ?? 0, 128)
        return 96 + reasonByteCount + 12 * result.ranges.count
    }
}
