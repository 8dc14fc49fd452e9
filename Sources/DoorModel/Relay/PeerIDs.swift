package import PushModel

/// What the other doors of a spool have logged about the ids that they write or have written, so that two doors of one spool
/// do not write the same request.
///
/// A door logs that it claims an id before it writes, and then reads what the others have logged. If another one has claimed
/// the id, too, it withdraws. So of two doors at least one sees the other, whatever their order.
package struct PeerIDs: Sendable {
    /// What the other doors say of an id.
    package enum Standing: Hashable, Sendable {
        /// None has it.
        case free
        /// One may be writing it at this moment.
        case claimed
        /// One has written it.
        case sent
    }

    /// What one door has logged.
    private struct Door {
        var sent: RecentIDs
        /// The claims that are open, by the number of the file that has them.
        var claims: [Int: Set<RecentIDs.Key>] = [:]
    }

    private let lifetime: Duration
    private var doors: [String: Door] = [:]

    /// Creates the knowledge of nothing.
    ///
    /// - Parameter lifetime: How long an id is remembered.
    package init(lifetime: Duration) {
        self.lifetime = lifetime
    }

    /// How many doors are known.
    package var doorCount: Int { doors.count }

    /// Applies whole records from a file of a door, in their order.
    package mutating func apply(_ records: ArraySlice<UInt8>, from door: String, file: Int) {
        var state = doors[door] ?? Door(sent: RecentIDs(lifetime: lifetime))
        doors[door] = nil
        var rest = records
        while rest.count >= RecentIDs.Key.recordByteCount {
            let (key, time) = RecentIDs.Key.record(in: rest.prefix(RecentIDs.Key.recordByteCount))
            rest.removeFirst(RecentIDs.Key.recordByteCount)
            switch time {
            case RecentIDs.Key.claimed: state.claims[file, default: []].insert(key)
            case RecentIDs.Key.withdrawn: state.claims[file]?.remove(key)
            case RecentIDs.Key.forgotten: state.sent.forget(key)
            default:
                state.claims[file]?.remove(key)
                state.sent.insert(key, at: time)
            }
        }
        doors[door] = state
    }

    /// Drops the claims in a file that its door writes no more: it has died, or had closed all claims before it began
    /// the next file.
    package mutating func dropClaims(of door: String, file: Int) { doors[door]?.claims[file] = nil }

    /// Forgets what is too old, and doors of which nothing is left.
    package mutating func forget(at now: WallTime) {
        for door in doors.keys { doors[door]?.sent.forget(at: now) }
        doors = doors.filter { $0.value.sent.count > 0 || $0.value.claims.values.contains { !$0.isEmpty } }
    }

    /// Returns what the other doors say of an id.
    package func standing(of key: RecentIDs.Key, at now: WallTime) -> Standing {
        if doors.values.contains(where: { $0.sent.contains(key, at: now) }) { return .sent }
        return doors.values.contains { $0.claims.values.contains { $0.contains(key) } } ? .claimed : .free
    }
}
