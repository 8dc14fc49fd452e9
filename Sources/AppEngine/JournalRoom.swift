import JournalModel
import PushModel
import ServiceProcess
import SharedResources
import SpoolStore

/// Checks whether an app has room for its next step (in the journal, for lines in memory, or among the running hooks),
/// and measures how long it waits for room.
final class JournalRoom {
    /// The resource for which the app waits.
    fileprivate enum Want: Hashable {
        case journal(JournalUse)
        case lines
        case hook
    }

    /// How long a wait must last to be reported: shorter ones are normal.
    private static let patience = Duration.seconds(1)

    private let journal: Journal
    private let app: String
    /// When each current wait began.
    private var waits: [Want: Moment] = [:]
    /// Whether the wait has been reported.
    private var isTold = false

    init(of app: String, in journal: Journal) {
        (self.app, self.journal) = (app, journal)
    }

    /// Checks whether the journal has room for this number of bytes.
    ///
    /// - Parameters:
    ///   - byteCount: How many bytes.
    ///   - use: The purpose.
    ///   - number: Distinguishes requests for the same use.
    ///   - wake: Called once there is room, if there is none now.
    /// - Returns: Whether there is room.
    func has(_ byteCount: Int, for use: JournalUse, number: Int = 0, orWake wake: @escaping @Sendable () -> Void)
        -> Bool
    {
        let request = RoomRequest(app, for: use, number: number)
        let hasRoom = journal.hasRoom(for: request, byteCount: byteCount, orWake: wake)
        if hasRoom { endWait(for: use) } else { beginWait(for: use) }
        return hasRoom
    }

    /// Records that a request for this use waits, unless that is known.
    func beginWait(for use: JournalUse) {
        begin(.journal(use))
    }

    /// Records whether reading and recording are blocked by too many unpublished lines.
    func note(tooManyLines: Bool) {
        if tooManyLines { begin(.lines) } else if !waits.isEmpty { waits[.lines] = nil }
    }

    /// Records whether the app's hook waits for hooks of other apps.
    ///
    /// - Returns: Whether that has changed.
    func note(hookWaits: Bool) -> Bool {
        guard hookWaits != (waits[.hook] != nil) else { return false }
        waits[.hook] = hookWaits ? .now : nil
        return true
    }

    private func begin(_ want: Want) {
        if waits[want] == nil { waits[want] = .now }
    }

    /// Records that no request for this use is waiting.
    func endWait(for use: JournalUse) {
        if !waits.isEmpty { waits[.journal(use)] = nil }
    }

    /// When to report that the app waits, unless it gets room before.
    var nextNews: Moment? { isTold ? nil : waits.values.min().map { $0 + Self.patience } }

    /// Why the app waits, for the status; `nil` if it does not, or not for long.
    var reason: String? { told?.waiting }

    /// How to fix it.
    var hint: String? { told?.hint }

    private var told: Want? { isTold ? waits.min { $0.value < $1.value }?.key : nil }

    /// Whether a wait that should be reported has begun or ended since the last call.
    func hasNews(at now: Moment) -> Bool {
        let isLong = waits.values.contains { $0 + Self.patience <= now }
        defer { isTold = isTold ? !waits.isEmpty : isLong }
        return isTold ? waits.isEmpty : isLong
    }
}

extension JournalRoom.Want {
    /// Describes the resource for which an app waits.
    fileprivate var waiting: String {
        switch self {
        case .journal(.claims): "waits for room in the journal to claim more jobs"
        case .journal(.sending): "waits for room in the journal to send more"
        case .journal(.outcomes): "waits for room in the journal to record outcomes"
        case .lines: "waits for feedback/ to be written before it reads or records more"
        case .hook: "waits for the hooks of other apps before it runs its own"
        }
    }

    fileprivate var hint: String {
        switch self {
        case .journal:
            "check that the gateway accepts notifications and feedback/ can be written, or set a larger journal.size"
        case .lines: "check owner, mode and free space of feedback/"
        case .hook:
            "check which hooks are slow: \(HookGate.limit) start at a time, and give way after a second at the latest"
        }
    }
}
