package import Document
package import JournalModel
package import PushModel

/// The account of an ended job, from its `job` line or its result file.
package struct JobAccount: Hashable, Sendable {
    /// The name of the dropped file, escaped.
    package var name: String
    /// The daemon's id.
    package var id: JobID?
    /// The producer's id.
    package var ref: String?
    /// The archive that it ended in.
    package var state: Conclusion.State
    /// Why it did not simply succeed; `nil` if it did.
    package var code: String?
    /// The reason in words, which only result files contain.
    package var why: String?
    /// The path in the archive, relative to the spool, which only `job` lines contain.
    package var path: String?
    /// All recipients, valid or not; 0 if the job could not be read.
    package var notificationCount = 0
    /// Its notifications, counted by outcome. The account does not say who rejected them: all count as refused.
    package var tally = Tally()
    /// When it was dropped.
    package var droppedAt: WallTime?
    /// When it was claimed; `nil` if it was not.
    package var claimedAt: WallTime?
    /// When it ended.
    package var finishedAt: WallTime?

    /// Creates the account of a job of which only the archive is known.
    package init(name: String, state: Conclusion.State) {
        (self.name, self.state) = (name, state)
    }

    /// Reads a `job` line or a result file.
    ///
    /// - Returns: `nil` if it is neither.
    package init?(_ node: Node) {
        guard let name = node["job"]?.string, let word = node["state"]?.string,
            let state = Conclusion.State(rawValue: word)
        else { return nil }
        (self.name, self.state) = (name, state)
        id = node["id"]?.string.flatMap { JobID($0) }
        (ref, code) = (node["ref"]?.string, node["code"]?.string)
        (why, path) = (node["why"]?.string, node["path"]?.string)
        let counts = node["counts"] ?? node
        let count = { (key: String) in min(max(0, counts[key]?.integer ?? 0), Tally.countLimit) }
        notificationCount = count("notifications")
        for kind in Outcome.Kind.allCases { tally.add(count(kind.rawValue), to: kind) }
        droppedAt = node["dropped_at"]?.string.flatMap { WallTime(rfc3339: $0) }
        claimedAt = node["claimed_at"]?.string.flatMap { WallTime(rfc3339: $0) }
        finishedAt = node["finished_at"]?.string.flatMap { WallTime(rfc3339: $0) }
    }
}

extension Tally {
    /// Writes a member for each outcome.
    package func write(to writer: inout JSONWriter) {
        for kind in Outcome.Kind.allCases { writer.member(kind.rawValue, self[kind]) }
    }
}
