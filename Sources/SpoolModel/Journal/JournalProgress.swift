import APNSModel

/// How far a job is: what is left of it, and what became of the rest.
package struct JournalProgress: Hashable, Sendable {
    /// What has no outcome yet.
    package var remaining: IndexRuns
    /// What became of the rest.
    package var tally = Tally()
    /// Which were rejected.
    package var rejected = IndexRuns()
    /// Which expired.
    package var expired = IndexRuns()
    /// Which were given up.
    package var unsent = IndexRuns()
    /// Which are in doubt.
    package var unknown = IndexRuns()

    /// Creates the progress of a job of which this is left; the other members are set by hand.
    package init(remaining: IndexRuns) {
        self.remaining = remaining
    }

    /// Which have which outcome, by the outcome's word, but for those accepted.
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

    /// How many runs of indices it takes to say all that.
    package var runCount: Int { sets.reduce(0) { $0 + $1.runs.runCount } }

    /// The sets that are not empty, as the journal names them.
    var sets: [(kind: JournalRuns.Kind, runs: IndexRuns)] {
        let all: [(kind: JournalRuns.Kind, runs: IndexRuns)] = [
            (.remaining, remaining), (.rejected, rejected), (.expired, expired), (.unsent, unsent), (.unknown, unknown),
        ]
        return all.filter { !$0.runs.isEmpty }
    }
}

extension JournalJob {
    /// How far it is; what is in doubt is left of it.
    package var progress: JournalProgress {
        var progress = JournalProgress(remaining: remaining)
        progress.tally = tally
        progress.runs = runs
        return progress
    }
}
