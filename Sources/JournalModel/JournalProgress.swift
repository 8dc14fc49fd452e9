import APNSModel

/// The progress of a job: its remaining notifications, and the outcomes of the others.
package struct JournalProgress: Hashable, Sendable {
    /// The notifications without an outcome.
    package var remaining: IndexRuns
    /// The outcomes of the others.
    package var tally = Tally()
    /// The rejected notifications.
    package var rejected = IndexRuns()
    /// The expired notifications.
    package var expired = IndexRuns()
    /// The notifications that were given up.
    package var unsent = IndexRuns()
    /// The notifications of unknown outcome.
    package var unknown = IndexRuns()

    /// Creates the progress of a job with these remaining notifications; the caller sets the other members.
    package init(remaining: IndexRuns) {
        self.remaining = remaining
    }

    /// The notifications by outcome, keyed by the outcome's word, except accepted ones.
    package var runs: [String: IndexRuns] {
        get {
            let all = [
                "rejected": rejected, Outcome.expired.word: expired, "unsent": unsent, Outcome.unknown.word: unknown,
            ]
            return all.filter { !$0.value.isEmpty }
        }
        set {
            (rejected, expired) = (newValue["rejected"] ?? IndexRuns(), newValue[Outcome.expired.word] ?? IndexRuns())
            (unsent, unknown) = (newValue["unsent"] ?? IndexRuns(), newValue[Outcome.unknown.word] ?? IndexRuns())
        }
    }

    /// The number of runs in all sets.
    package var runCount: Int { sets.reduce(0) { $0 + $1.runs.runCount } }

    /// The sets that are not empty, with their kind in the journal.
    var sets: [(kind: JournalRuns.Kind, runs: IndexRuns)] {
        let all: [(kind: JournalRuns.Kind, runs: IndexRuns)] = [
            (.remaining, remaining), (.rejected, rejected), (.expired, expired), (.unsent, unsent), (.unknown, unknown),
        ]
        return all.filter { !$0.runs.isEmpty }
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
