package import PushModel

/// The progress of a job: its remaining notifications, and the outcomes of the others.
package struct JournalProgress: Hashable, Sendable {
    /// The notifications without an outcome.
    package var remaining: IndexRuns
    /// The outcomes of the others.
    package var tally = Tally()
    /// The notifications by outcome, except accepted ones.
    package var runs: [Outcome.Kind: IndexRuns] = [:]

    /// Creates the progress of a job with these remaining notifications; the caller sets the other members.
    package init(remaining: IndexRuns) {
        self.remaining = remaining
    }

    /// The notifications with an outcome of this kind; none of accepted ones.
    package subscript(kind: Outcome.Kind) -> IndexRuns { runs[kind] ?? IndexRuns() }

    /// The number of runs in all sets.
    package var runCount: Int { sets.reduce(0) { $0 + $1.runs.runCount } }

    /// The sets that are not empty, with their kind in the journal.
    var sets: [(kind: JournalRuns.Kind, runs: IndexRuns)] {
        let settled = Outcome.Kind.allCases.compactMap { kind in
            JournalRuns.Kind(kind).map { (kind: $0, runs: self[kind]) }
        }
        return ([(kind: .remaining, runs: remaining)] + settled).filter { !$0.runs.isEmpty }
    }
}

extension JournalJob {
    /// The progress of the job. Notifications in doubt count as remaining.
    package var progress: JournalProgress {
        var progress = JournalProgress(remaining: remaining)
        progress.tally = tally
        progress.runs = runs
        return progress
    }
}
