/// What room in the journal is wanted for.
package enum JournalUse: CaseIterable, Hashable, Sendable {
    /// To claim another job.
    case claims
    /// To hand out more of the jobs that are claimed.
    case sending
    /// To record what became of those that were sent.
    case outcomes

    /// Which part of the room it may use, in eighths: what has begun must be able to end.
    fileprivate var eighths: Int {
        switch self {
        case .claims: 6
        case .sending: 7
        case .outcomes: 8
        }
    }
}

/// Divides the room that a journal has for live jobs: half of it in equal parts, one for each app, which no other app can
/// take; the other half for whoever needs it.
///
/// So an app whose jobs cannot end (its gateway is down, its feedback cannot be written) keeps no other one from working.
package struct JournalShares: Hashable, Sendable {
    /// What of it each app takes beside its jobs: its last PUBLISHED record.
    private static let appByteCount = 512

    /// How many bytes all live jobs may take.
    package let byteLimit: Int
    /// The apps that have a part of their own.
    package var apps: Set<String> = []

    /// Divides so many bytes.
    package init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// How many bytes each app has for itself.
    package var ownByteCount: Int { apps.isEmpty ? 0 : half / apps.count }

    /// Half of what is divided.
    private var half: Int { max(0, byteLimit - apps.count * Self.appByteCount) / 2 }

    /// How much room any app has at least, however what is live is distributed among them. Costs nothing, and is much as long as
    /// the journal is not well filled.
    ///
    /// - Parameters:
    ///   - use: What it is wanted for.
    ///   - liveByteCount: What all live jobs take.
    /// - Returns: How many bytes more it may take; if that is not negative, at most what `room` says of any.
    func leastRoom(for use: JournalUse, liveByteCount: Int) -> Int { half * use.eighths / 8 - liveByteCount }

    /// How many bytes more an app may take for a use; may be negative. Costs a look at each app that has live jobs.
    ///
    /// An app without live jobs may use all of its own part for one.
    func room(of app: String, for use: JournalUse, usage: [String: JournalState.Usage]) -> Int {
        let own = usage[app]?.byteCount ?? 0
        let share = apps.contains(app) ? ownByteCount : 0
        var othersBeyond = 0
        for (other, use) in usage where other != app {
            othersBeyond += max(0, use.byteCount - (apps.contains(other) ? ownByteCount : 0))
        }
        let eighths = own == 0 ? 8 : use.eighths
        return share * eighths / 8 + max(0, half * use.eighths / 8 - othersBeyond) - own
    }

    /// Whether each app's own part is enough for a small job of any length.
    package var isEnough: Bool { ownByteCount >= JournalHeader.byteLimit + 3 * JournalJob.fixedByteCount }
}
