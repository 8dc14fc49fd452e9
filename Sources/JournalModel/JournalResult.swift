package import JobFormat
package import PushModel

/// An outcome, and the ranges of a job's notifications that got it.
package struct JournalResult: Hashable, Sendable {
    /// The outcome. The file stores at most 128 bytes of a reason's name.
    package var outcome: Outcome
    /// The indices, in any order.
    package var ranges: [Range<Int>]
    /// The time of the outcome.
    package var at: WallTime
    /// Whether an earlier record wrongly said that these notifications were accepted.
    package var isCorrection: Bool

    /// Creates a result.
    package init(_ outcome: Outcome, _ ranges: [Range<Int>], at: WallTime, isCorrection: Bool = false) {
        (self.outcome, self.ranges, self.at, self.isCorrection) = (outcome, ranges, at, isCorrection)
    }
}

/// How a job ended and where it is archived. Recorded and synced before its `job` line is published.
package struct JournalFinal: Hashable, Sendable {
    /// The most bytes kept of `why`.
    package static let whyByteLimit = 512

    /// How the job ended; its state is the archive that the job goes to.
    package let conclusion: Conclusion
    /// The folder there for the UTC day, such as `2026-11-21`.
    package var day: String
    /// The name there, which may differ from that of the dropped file.
    package var name: FileName
    /// When the job ended.
    package let finishedAt: WallTime
    /// Why the job could not continue, in words; cut to 512 bytes.
    package var why: String? {
        didSet { why = why?.prefix(utf8Count: Self.whyByteLimit) }
    }
    /// The earlier job that this one duplicates, if any.
    package var earlier: SentTwin?

    /// Creates the record of a conclusion; the caller sets `why` and `earlier`.
    package init(_ conclusion: Conclusion, day: String, name: FileName, finishedAt: WallTime) {
        (self.conclusion, self.day, self.name, self.finishedAt) = (conclusion, day, name, finishedAt)
    }
}

/// The fact that feedback lines are published.
package struct JournalPublication: Hashable, Sendable {
    /// The app of the lines.
    package var app: String
    /// The file in `feedback/`: the newest name used, which the next name must exceed.
    package var feedback: FileName
    /// The lines of every RESULT and FINAL of the app up to this record are published.
    package var through: JournalPosition
    /// Lines before this record are excluded, if it is set: an earlier run left them, and they are published again.
    package var since: JournalPosition?

    /// Creates a publication.
    package init(app: String, feedback: FileName, through: JournalPosition, since: JournalPosition? = nil) {
        (self.app, self.feedback, self.through, self.since) = (app, feedback, through, since)
    }

    /// Whether it covers the lines of the record at `position`.
    func covers(_ position: JournalPosition) -> Bool {
        position <= through && since.map { $0 <= position } ?? true
    }
}

extension String {
    /// Returns the longest prefix of at most `limit` bytes that does not split a character.
    func prefix(utf8Count limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(startIndex, offsetBy: limit)
        while end > startIndex, end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
