package import APNSModel

/// Outcomes that a job's notifications got: one outcome, and ranges of those that got it.
package struct JournalResult: Hashable, Sendable {
    /// What became of them. A reason's name is cut after 128 bytes in the file.
    package var outcome: Outcome
    /// Their indices, in any order.
    package var ranges: [Range<Int>]
    /// When they got it.
    package var at: WallTime
    /// Whether an earlier record said that they were accepted, and was wrong.
    package var isCorrection: Bool

    /// Creates a result.
    package init(_ outcome: Outcome, _ ranges: [Range<Int>], at: WallTime, isCorrection: Bool = false) {
        (self.outcome, self.ranges, self.at, self.isCorrection) = (outcome, ranges, at, isCorrection)
    }
}

/// How a job ended and where it goes, recorded and synced before its `job` line is published.
package struct JournalFinal: Hashable, Sendable {
    /// How many bytes of `why` are kept.
    package static let whyByteLimit = 512

    /// How it ended; its state is the archive that the job goes to.
    package let conclusion: Conclusion
    /// The UTC day's folder there, `2026-11-21`.
    package let day: String
    /// The name there, which may be another than it was dropped by.
    package let name: FileName
    /// When it ended.
    package let finishedAt: WallTime
    /// Why it could not go on, in words; cut after 512 bytes.
    package var why: String? {
        didSet { why = why?.prefix(utf8Count: Self.whyByteLimit) }
    }
    /// The job that it was a duplicate of, if it was one.
    package var earlier: EarlierJob?

    /// Creates the record of an end; `why` and `earlier` are set by hand.
    package init(_ conclusion: Conclusion, day: String, name: FileName, finishedAt: WallTime) {
        (self.conclusion, self.day, self.name, self.finishedAt) = (conclusion, day, name, finishedAt)
    }
}

/// That feedback lines are out.
package struct JournalPublication: Hashable, Sendable {
    /// The app whose lines they are.
    package var app: String
    /// The file in `feedback/`: the newest name given out, which the next must exceed.
    package var feedback: FileName
    /// The lines of every RESULT and FINAL of the app up to this record are out.
    package var through: JournalPosition
    /// But not those before this one, if there is one: an earlier run has left them, and they are told again.
    package var since: JournalPosition?

    /// Creates a publication.
    package init(app: String, feedback: FileName, through: JournalPosition, since: JournalPosition? = nil) {
        (self.app, self.feedback, self.through, self.since) = (app, feedback, through, since)
    }

    /// Whether it says that the lines of the record at `position` are out.
    func covers(_ position: JournalPosition) -> Bool {
        position <= through && since.map { $0 <= position } ?? true
    }
}

extension String {
    /// The longest beginning of at most `limit` bytes that cuts no character.
    func prefix(utf8Count limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(startIndex, offsetBy: limit)
        while end > startIndex, end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
