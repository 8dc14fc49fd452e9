package import JournalModel
package import PushModel

/// What a job's report says about single notifications.
package struct ReportedOutcomes: Hashable, Sendable {
    /// The most ids of the gateway's that a report has.
    package static let uniqueIDLimit = 10
    /// The most reasons that are counted for one outcome; further ones count as `others`.
    private static let reasonLimit = 100

    /// The notifications by outcome, except accepted ones.
    package var runs: [Outcome.Kind: IndexRuns] = [:]
    /// The number of these notifications by reason.
    package private(set) var reasons: [Outcome.Kind: [String: Int]] = [:]
    /// How many bytes more the file had when the job ended than when it was claimed.
    package var unreadByteCount: Int64 = 0
    /// The gateway's own ids of the first notifications, by index. Only Apple's sandbox sends them.
    package private(set) var uniqueIDs: [Int: String] = [:]

    /// Creates an empty list.
    package init() {}

    /// Records an outcome.
    package mutating func note(_ range: Range<Int>, _ outcome: Outcome) {
        guard outcome != .accepted else { return }
        _ = runs[outcome.kind, default: IndexRuns()].insert(range)
        guard let refusal = outcome.refusal else { return }
        var counts = reasons[outcome.kind] ?? [:]
        let isRoom = counts.count < Self.reasonLimit || counts[refusal.reason] != nil
        counts[isRoom ? refusal.reason : "others", default: 0] += range.count
        reasons[outcome.kind] = counts
    }

    /// Records the gateway's own ids of notifications, as far as there is room for them: the lowest indices have it.
    package mutating func note(uniqueIDs ids: [Int: String]) {
        guard !ids.isEmpty else { return }
        uniqueIDs.merge(ids) { $1 }
        guard uniqueIDs.count > Self.uniqueIDLimit else { return }
        let kept = uniqueIDs.sorted { $0.key < $1.key }.prefix(Self.uniqueIDLimit)
        uniqueIDs = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
    }
}
