package import APNSModel
package import Document
package import JournalModel

/// The account of an ended job, from its `job` line or its result file.
package struct JobAccount: Hashable, Sendable {
    /// The number of notifications for each outcome.
    package struct Counts: Hashable, Sendable {
        /// All recipients, valid or not; 0 if the job could not be read.
        package var notifications = 0
        /// Accepted by the gateway.
        package var accepted = 0
        /// Rejected, by the gateway or before sending.
        package var rejected = 0
        /// Expired.
        package var expired = 0
        /// Given up.
        package var unsent = 0
        /// Of unknown outcome.
        package var unknown = 0

        /// Creates counts of zero.
        package init() {}
    }

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
    /// The outcomes of its notifications.
    package var counts: Counts
    /// When it was dropped.
    package var droppedAt: WallTime?
    /// When it was claimed; `nil` if it was not.
    package var claimedAt: WallTime?
    /// When it ended.
    package var finishedAt: WallTime?

    /// Creates the account of a job of which only the archive is known.
    package init(name: String, state: Conclusion.State) {
        (self.name, self.state) = (name, state)
        counts = Counts()
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
        counts = Counts(node["counts"] ?? node)
        droppedAt = node["dropped_at"]?.string.flatMap { WallTime(rfc3339: $0) }
        claimedAt = node["claimed_at"]?.string.flatMap { WallTime(rfc3339: $0) }
        finishedAt = node["finished_at"]?.string.flatMap { WallTime(rfc3339: $0) }
    }
}

extension JobAccount.Counts {
    /// The counts by outcome, without the total.
    package var outcomes: [(word: String, count: Int)] {
        [
            ("accepted", accepted), ("rejected", rejected), ("expired", expired), ("unsent", unsent),
            ("unknown", unknown),
        ]
    }

    /// The number of notifications that were not accepted.
    package var missedCount: Int { rejected + expired + unsent + unknown }

    fileprivate init(_ node: Node) {
        let count = { (key: String) in min(max(0, node[key]?.integer ?? 0), Tally.countLimit) }
        (notifications, accepted) = (count("notifications"), count("accepted"))
        (rejected, expired) = (count("rejected"), count("expired"))
        (unsent, unknown) = (count("unsent"), count("unknown"))
    }
}
