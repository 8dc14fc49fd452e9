package import APNSModel
package import Document

/// How a job ended, as its `job` line or its result file tells it.
package struct JobAccount: Hashable, Sendable {
    /// How many of its notifications ended how.
    package struct Counts: Hashable, Sendable {
        /// All, good or bad; 0 if it could not be read.
        package var notifications = 0
        /// Taken by the gateway.
        package var accepted = 0
        /// Refused, by the gateway or before.
        package var rejected = 0
        /// Too late.
        package var expired = 0
        /// Given up.
        package var unsent = 0
        /// In doubt.
        package var unknown = 0

        /// Counts nothing.
        package init() {}
    }

    /// The name it was dropped by, escaped.
    package var name: String
    /// Our id.
    package var id: JobID?
    /// The producer's.
    package var ref: String?
    /// Which archive it went to.
    package var state: Conclusion.State
    /// Why it did not simply succeed.
    package var code: String?
    /// Why, in words; only a result file has them.
    package var why: String?
    /// Where it went, from the spool on; only a `job` line has it.
    package var path: String?
    /// What became of its notifications.
    package var counts: Counts
    /// When it was dropped.
    package var droppedAt: WallTime?
    /// When it was claimed, if it ever was.
    package var claimedAt: WallTime?
    /// When it ended.
    package var finishedAt: WallTime?

    /// Creates an account that tells no more than where the job is.
    init(name: String, state: Conclusion.State) {
        (self.name, self.state) = (name, state)
        counts = Counts()
    }

    /// Reads a `job` line or a result file.
    ///
    /// - Returns: `nil` when it is neither.
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
    /// Each with its word, but for the number of all.
    package var outcomes: [(word: String, count: Int)] {
        [
            ("accepted", accepted), ("rejected", rejected), ("expired", expired), ("unsent", unsent),
            ("unknown", unknown),
        ]
    }

    /// What was not accepted.
    package var missedCount: Int { rejected + expired + unsent + unknown }

    fileprivate init(_ node: Node) {
        let count = { (key: String) in min(max(0, node[key]?.integer ?? 0), Tally.countLimit) }
        (notifications, accepted) = (count("notifications"), count("accepted"))
        (rejected, expired) = (count("rejected"), count("expired"))
        (unsent, unknown) = (count("unsent"), count("unknown"))
    }
}
