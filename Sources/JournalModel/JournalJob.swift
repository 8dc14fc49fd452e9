import JobFormat
package import PushModel

/// The journal's state of a live job: one that has a header and was not cleaned.
package struct JournalJob: Sendable {
    /// The facts of its header.
    package let facts: JournalHeader.Facts
    /// Whether its header record contains its bytes.
    package let holdsBytes: Bool
    /// The position of its header record.
    package var position: JournalPosition { place.position }
    /// The bytes of that record in the file.
    package var headerByteCount: Int { place.byteCount }
    /// Whether its file was moved to `work/`.
    package internal(set) var isClaimed = false
    /// The notifications without an outcome.
    package internal(set) var remaining: IndexRuns
    /// The outcomes of the others.
    package internal(set) var tally = Tally()
    /// The rejected notifications.
    package var rejected: IndexRuns { self[.rejected] }
    /// The expired notifications.
    package var expired: IndexRuns { self[.expired] }
    /// The notifications that were given up.
    package var unsent: IndexRuns { self[.unsent] }
    /// The notifications of unknown outcome.
    package var unknown: IndexRuns { self[.unknown] }
    /// The notifications that were about to be sent and have no outcome: in doubt if the daemon died.
    package var intents: IndexRuns { self[.intended] }
    /// How the job ended; `nil` if it has not.
    package var final: JournalFinal? { if case .ended(let final, _) = ending { final } else { nil } }
    /// Whether the `job` line is published.
    package internal(set) var isFinalTold = false
    /// Whether records of it may be missing because the journal was damaged.
    package internal(set) var isDamaged = false
    /// Whether `rejected` and `expired` were too scattered to keep: they are empty then, and only the tally has their numbers.
    package private(set) var isAbridged = false
    /// The results whose lines may be unpublished.
    package var untold: [JournalResult] { untoldResults.map(\.result) }
    /// Whether any lines may be unpublished.
    package var hasUntold: Bool { !untoldResults.isEmpty }

    /// The place of its header record, with its checksum seed.
    let place: JournalPlace
    /// The same results, each with the position of its first record. PUBLISHED refers to it, also after carrying.
    private(set) var untoldResults: [JournalUntold] = []
    /// An upper bound of the bytes for writing these results again.
    private(set) var untoldByteCount = 0
    /// The position of the first record of its conclusion.
    var finalPosition: JournalPosition? { if case .ended(_, let position) = ending { position } else { nil } }

    // Most of many jobs have not ended and have none of these, so they take no room in a table of jobs.

    /// Whether the job has ended.
    private indirect enum Ending {
        case open
        case ended(JournalFinal, at: JournalPosition)
    }

    private var ending = Ending.open
    /// The notifications of each kind, other than remaining and accepted ones.
    private var sets: [JournalRuns.Kind: IndexRuns] = [:]

    private subscript(kind: JournalRuns.Kind) -> IndexRuns {
        get { sets[kind] ?? IndexRuns() }
        _modify { yield &sets[kind, default: IndexRuns()] }
    }

    /// The notifications by outcome, except accepted ones.
    package var runs: [Outcome.Kind: IndexRuns] {
        var runs: [Outcome.Kind: IndexRuns] = [:]
        for kind in Outcome.Kind.allCases {
            guard let set = JournalRuns.Kind(kind).flatMap({ sets[$0] }), !set.isEmpty else { continue }
            runs[kind] = set
        }
        return runs
    }

    /// Whether any record followed its header.
    package var isTouched: Bool {
        isClaimed || final != nil || !intents.isEmpty || remaining.count < facts.recipientCount
    }

    /// Creates the job that a header announces.
    init(_ header: JournalHeader, at place: JournalPlace) {
        self.facts = header.facts
        self.holdsBytes = header.holdsBytes
        self.place = place
        self.remaining = IndexRuns(0..<header.facts.recipientCount)
    }
}

extension JournalJob {
    /// An upper bound of the bytes for writing the job again.
    var carriedByteCount: Int {
        let setByteCount = sets.values.reduce(Self.byteCount(of: remaining)) { $0 + Self.byteCount(of: $1) }
        return headerByteCount + Self.fixedByteCount + facts.name.bytes.count + setByteCount + untoldByteCount
    }

    /// An upper bound of the bytes for the records of a set: few runs as runs, many as one bit per index.
    private static func byteCount(of set: IndexRuns) -> Int {
        let count = set.runCount
        guard count > 16, let first = set.first, let last = set.last else { return count * runByteCount }
        let span = last.upperBound - first.lowerBound
        return min(count * runByteCount, span / 6 + count / 2 + 48)
    }

    /// Returns an upper bound of the bytes other than the header, for this number of runs.
    static func byteCount(ofRuns count: Int) -> Int { fixedByteCount + count * runByteCount }

    /// The conclusion without its name, the checkpoint, and the heads of records that are not full.
    static let fixedByteCount = 1024
    /// A gap and a length, and a share of the record's head.
    private static let runByteCount = 12

    /// Counts outcomes, and keeps the data that their feedback lines need.
    mutating func apply(_ result: JournalResult, at position: JournalPosition) {
        for range in result.ranges {
            let range = range.clamped(to: 0..<facts.recipientCount)
            if result.isCorrection {
                correct(range, result.outcome)
            } else {
                settle(range, result.outcome)
            }
            if !intents.isEmpty { self[.intended].subtract(range) }
        }
        guard result.outcome != .accepted || facts.recordsAll || result.isCorrection else { return }
        add(JournalUntold(origin: position, result: result))
    }

    /// Adds a result whose lines may be unpublished.
    mutating func add(_ untold: JournalUntold) {
        untoldResults.append(untold)
        untoldByteCount += untold.byteCount
    }

    /// Drops the lists of rejected and expired notifications if writing them takes more than `limit` bytes, but keeps
    /// their counts. Only the result file uses the lists.
    mutating func abridge(to limit: Int) {
        guard isAbridged || Self.byteCount(of: rejected) + Self.byteCount(of: expired) > limit else { return }
        (sets[.rejected], sets[.expired], isAbridged) = (nil, nil, true)
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
        guard let kind = JournalRuns.Kind(outcome.kind) else { return 0 }
        return self[kind].insert(range)
    }

    mutating func intend(_ ranges: [Range<Int>]) {
        for range in ranges {
            for part in remaining.intersection(range) { self[.intended].insert(part) }
        }
    }

    /// Makes notifications without an outcome remain again, even if the job had ended.
    mutating func reopen(_ ranges: [Range<Int>]) {
        for range in ranges {
            let range = range.clamped(to: 0..<facts.recipientCount)
            tally.add(.accepted, count: -remaining.insert(range))
            self[.intended].subtract(range)
        }
        if !remaining.isEmpty { (ending, isFinalTold) = (.open, false) }
    }

    mutating func end(_ final: JournalFinal, at position: JournalPosition) {
        (ending, isFinalTold) = (.ended(final, at: position), false)
    }

    /// Drops the results whose lines are published.
    mutating func markTold(_ publication: JournalPublication) {
        if !untoldResults.isEmpty {
            untoldResults.removeAll { publication.covers($0.origin) }
            untoldByteCount = untoldResults.reduce(0) { $0 + $1.byteCount }
        }
        if let end = finalPosition, publication.covers(end) { isFinalTold = true }
    }

    /// Adds a part of a carried job; `remaining` must be empty before the first part.
    mutating func apply(_ runs: JournalRuns) {
        for range in runs.ranges {
            let range = range.clamped(to: 0..<facts.recipientCount)
            if runs.kind == .remaining { remaining.insert(range) } else { self[runs.kind].insert(range) }
        }
    }

    /// Completes a carried job.
    mutating func apply(_ checkpoint: JournalCheckpoint) {
        tally = checkpoint.tally
        isClaimed = checkpoint.isClaimed
        isFinalTold = checkpoint.isFinalTold
        isDamaged = checkpoint.isDamaged
        isAbridged = checkpoint.isAbridged
        if let final, let origin = checkpoint.finalOrigin { ending = .ended(final, at: origin) }
    }

    /// Returns the initial state of a carried job.
    static func carried(_ header: JournalHeader, at place: JournalPlace) -> JournalJob {
        var job = JournalJob(header, at: place)
        job.remaining = IndexRuns()
        return job
    }
}

extension JournalUntold {
    /// An upper bound of the bytes for writing the result again: its reason, times, position and ranges.
    var byteCount: Int {
        let reasonByteCount = min(result.outcome.refusal?.reason.utf8.count ?? 0, 128)
        return 96 + reasonByteCount + 12 * result.ranges.count
    }
}
