package import Document
package import JobFormat
import JournalModel
import PushModel

/// The part of an ended job to resend, according to its result file.
package enum RetryPlan: Hashable, Sendable {
    /// The remaining notifications, under the job's id.
    case rest(FileName, Remainder.Sent)
    /// The whole job, because nothing of it was ever sent.
    case whole(FileName)

    /// Judges a job by its result file.
    ///
    /// The `unsent` notifications remain. Rejected and expired ones do not; neither do those in doubt, unless requested.
    ///
    /// - Parameters:
    ///   - root: The result file.
    ///   - includesUnknown: Whether to resend notifications that may have been sent.
    /// - Throws: `ControlFault`: no notification remains, the job is a duplicate or expired, or the file is not a result file.
    package init(_ root: Node, includingUnknown includesUnknown: Bool) throws(ControlFault) {
        guard let result = ParsedResult(root) else {
            throw ControlFault(
                "its result file does not list the unsent notifications",
                hint: "use --whole to send the whole job again, accepted notifications included")
        }
        guard root["code"]?.string != ResultCode.duplicate.rawValue else {
            throw ControlFault(
                "it duplicates a job that was sent, and would fail again", hint: "use --whole to send it anyway",
                hasNothingToDo: true)
        }
        guard result.progress.tally.total > 0 else {
            guard root["code"]?.string != ResultCode.expired.rawValue else {
                throw ControlFault(
                    "the whole job expired before it was sent", hint: "use --whole to send it anyway",
                    hasNothingToDo: true)
            }
            self = .whole(result.name)
            return
        }
        var progress = result.progress
        progress.putBack(.unsent)
        if includesUnknown { progress.putBack(.unknown) }
        guard !progress.remaining.isEmpty else {
            let unknown = result.progress.tally.unknown
            throw ControlFault(
                "no notifications are left to send",
                hint: unknown > 0 && !includesUnknown
                    ? "\(unknown) notifications may have been sent: use --unknown to resend them, or --whole to resend all"
                    : "use --whole to send the whole job again",
                hasNothingToDo: true)
        }
        let sent = Remainder.Sent(id: result.id, ref: result.ref, count: result.count, progress: progress)
        self = .rest(result.name, sent)
    }
}

/// The content of a result file.
private struct ParsedResult {
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
        guard read(counts, root["indexes"]) else { return nil }
    }

    /// Reads counts and indices.
    ///
    /// - Returns: Whether they are consistent.
    private mutating func read(_ counts: Node, _ indexes: Node?) -> Bool {
        for kind in Outcome.Kind.allCases {
            guard let number = Tally.count(counts[kind.rawValue]),
                let told = IndexRuns(indexes?[kind.rawValue], below: count)
            else { return false }
            // The file does not say who rejected them. That matters only if nothing was accepted.
            progress.tally.add(number, to: kind)
            if kind != .accepted, !told.isEmpty { progress.runs[kind] = told }
        }
        // Check the notifications that may be resent.
        return [.unsent, .unknown].allSatisfy { progress[$0].count == progress.tally[$0] }
    }
}

extension JournalProgress {
    /// Makes the notifications of one outcome remain again.
    fileprivate mutating func putBack(_ kind: Outcome.Kind) {
        let runs = runs.removeValue(forKey: kind) ?? IndexRuns()
        tally.add(-runs.count, to: kind)
        for run in runs.runs { remaining.insert(run) }
    }
}
