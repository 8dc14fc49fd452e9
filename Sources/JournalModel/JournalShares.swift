/// The purpose for which an app needs room in the journal.
package enum JournalUse: CaseIterable, Hashable, Sendable {
    /// Claiming another job.
    case claims
    /// Handing out more notifications of claimed jobs.
    case sending
    /// Recording the outcomes of sent notifications.
    case outcomes

    /// The part of the room that this purpose may use, in eighths: jobs already started must be able to finish.
    fileprivate var eighths: Int {
        switch self {
        case .claims: 6
        case .sending: 7
        case .outcomes: 8
        }
    }
}

/// Divides the journal's room for live jobs: half of it in equal shares, one for each app, which no other app can use;
/// the other half for any app that needs it.
///
/// So an app whose jobs cannot end (its gateway is down, its feedback cannot be written) does not stop the others.
package struct JournalShares: Hashable, Sendable {
    /// The bytes that each app takes in addition to its jobs: its last PUBLISHED record.
    private static let appByteCount = 512

    /// The most bytes of all live jobs.
    package let byteLimit: Int
    /// The apps with a share of their own.
    package var apps: Set<String> = []

    /// Divides this many bytes.
    package init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// The bytes of each app's own share.
    package var ownByteCount: Int { apps.isEmpty ? 0 : half / apps.count }

    /// Half of the room to divide.
    private var half: Int { max(0, byteLimit - apps.count * Self.appByteCount) / 2 }

    /// Returns the least room of any app, however the live bytes are distributed among the apps. Costs nothing, and is
    /// enough while the journal has plenty of room.
    ///
    /// - Parameters:
    ///   - use: The purpose.
    ///   - liveByteCount: The bytes of all live jobs.
    /// - Returns: How many more bytes an app may take; if not negative, at most the `room` of any app.
    func leastRoom(for use: JournalUse, liveByteCount: Int) -> Int { half * use.eighths / 8 - liveByteCount }

    /// Returns how many more bytes an app may take for a use; may be negative. Costs O(*n*) in apps with live jobs.
    ///
    /// An app without live jobs may use all of its own share for one.
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

    /// Whether each app's own share is enough for a small job of any length.
    package var isEnough: Bool { ownByteCount >= JournalHeader.byteLimit + 3 * JournalJob.fixedByteCount }
}
