import APNSModel
package import Document

/// What is to be sent again of a job that is over, by what its result file says.
package enum RetryPlan: Hashable, Sendable {
    /// What is left of it, under its id.
    case rest(FileName, Rest.Sent)
    /// All of it: nothing of it was ever sent.
    case whole(FileName)

    /// Judges a job by its result file.
    ///
    /// Left is what is `unsent`. What was rejected or expired is over, and so is what is in doubt, unless it is asked for.
    ///
    /// - Parameters:
    ///   - root: The result file.
    ///   - includesUnknown: Whether what may have been sent is sent again.
    /// - Throws: `ControlFault`: nothing of it is left, it is a duplicate or was too late, or the file is none.
    package init(_ root: Node, includingUnknown includesUnknown: Bool) throws(ControlFault) {
        guard let result = ToldResult(root) else {
            throw ControlFault(
                "its result file does not say what is left",
                hint: "--whole sends all of it again, what was accepted too")
        }
        guard root["code"]?.string != ResultCode.duplicate.rawValue else {
            throw ControlFault(
                "it is a duplicate of a job that was sent: it would fail again",
                hint: "--whole sends all of it all the same")
        }
        guard result.progress.tally.total > 0 else {
            guard root["code"]?.string != ResultCode.expired.rawValue else {
                throw ControlFault("it was too late for all of it", hint: "--whole sends all of it all the same")
            }
            self = .whole(result.name)
            return
        }
        var progress = result.progress
        progress.putBack(\.unsent, as: .unsent(Refusal(status: nil, reason: "", verdict: .later)))
        if includesUnknown { progress.putBack(\.unknown, as: .unknown) }
        guard !progress.remaining.isEmpty else {
            let unknown = result.progress.tally.unknown
            throw ControlFault(
                "nothing of it is left to be sent",
                hint: unknown > 0 && !includesUnknown
                    ? "\(unknown) notifications may have been sent: --unknown sends them again; --whole sends all"
                    : "all of it is sent again with --whole")
        }
        let sent = Rest.Sent(id: result.id, ref: result.ref, count: result.count, progress: progress)
        self = .rest(result.name, sent)
    }
}

/// What a result file tells of a job.
private struct ToldResult {
    let name: FileName
    let id: JobID
    let ref: String?
    let count: Int
    var progress: JournalProgress

    init?(_ root: Node) {
        guard root["v"]?.integer == FeedbackLine.version, let text = root["job"]?.string,
            let name = FileName(escaped: text), let id = root["id"]?.string.flatMap({ JobID($0) }),
            let counts = root["counts"], let count = Tally.count(counts["notifications"])
        else { return nil }
        (self.name, self.id, self.ref, self.count) = (name, id, root["ref"]?.string, count)
        progress = JournalProgress(remaining: IndexRuns())
        guard take(counts, root["indexes"]) else { return nil }
    }

    /// Takes counts and indices; whether they go together.
    private mutating func take(_ counts: Node, _ indexes: Node?) -> Bool {
        let refusal = Refusal(status: nil, reason: "", verdict: .later)
        // Who refused them is not told; that matters only where nothing was accepted.
        let outcomes: [(String, Outcome)] = [
            ("accepted", .accepted), ("rejected", .rejected(Refusal(status: 0, reason: "", verdict: .message))),
            ("expired", .expired), ("unsent", .unsent(refusal)), ("unknown", .unknown),
        ]
        var runs: [String: IndexRuns] = [:]
        for (word, outcome) in outcomes {
            guard let number = Tally.count(counts[word]), let told = IndexRuns(indexes?[word], below: count) else {
                return false
            }
            progress.tally.add(outcome, count: number)
            runs[word] = told
        }
        progress.runs = runs
        // These are what may be sent again.
        return progress.unsent.count == progress.tally.unsent && progress.unknown.count == progress.tally.unknown
    }
}

extension JournalProgress {
    /// Makes notifications of one outcome be left again.
    fileprivate mutating func putBack(_ runs: WritableKeyPath<JournalProgress, IndexRuns>, as outcome: Outcome) {
        tally.add(outcome, count: -self[keyPath: runs].count)
        for run in self[keyPath: runs].runs { remaining.insert(run) }
        self[keyPath: runs] = IndexRuns()
    }
}
