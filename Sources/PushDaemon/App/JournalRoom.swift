import APNSGateway
import APNSModel
import SpoolModel
import SpoolStore

/// Whether an app has room for what it is about to do, in the journal, for lines in memory or among the hooks that run, and since
/// when it waits for some.
final class JournalRoom {
    /// What it waits for.
    fileprivate enum Want: Hashable {
        case journal(JournalUse)
        case lines
        case hook
    }

    /// How long a wait must last to be told: shorter ones are everyday business.
    private static let patience = Duration.seconds(1)

    private let journal: Journal
    private let app: String
    /// Since when the app waits, by what for.
    private var waits: [Want: Moment] = [:]
    /// Whether it was told that the app waits.
    private var isTold = false

    init(of app: String, in journal: Journal) {
        (self.app, self.journal) = (app, journal)
    }

    /// Looks whether there is room for so many bytes.
    ///
    /// - Parameters:
    ///   - byteCount: How many.
    ///   - use: What for.
    ///   - number: Tells those apart who want room for the same use.
    ///   - bell: Rings once there is room, if there is none.
    /// - Returns: Whether there is.
    func has(_ byteCount: Int, for use: JournalUse, number: Int = 0, orRing bell: Bell) -> Bool {
        let wish = RoomWish(app, for: use, number: number)
        let hasRoom = journal.hasRoom(for: wish, byteCount: byteCount) { bell.ring() }
        if hasRoom { endWait(for: use) } else { beginWait(for: use) }
        return hasRoom
    }

    /// Notes that something waits for this use, if it was not known.
    func beginWait(for use: JournalUse) {
        begin(.journal(use))
    }

    /// Notes whether nothing is read or recorded because too many lines are not out.
    func note(tooManyLines: Bool) {
        if tooManyLines { begin(.lines) } else if !waits.isEmpty { waits[.lines] = nil }
    }

    /// Notes whether the app's hook waits for those of others.
    ///
    /// - Returns: Whether that is another answer than before.
    func note(hookWaits: Bool) -> Bool {
        guard hookWaits != (waits[.hook] != nil) else { return false }
        waits[.hook] = hookWaits ? .now : nil
        return true
    }

    private func begin(_ want: Want) {
        if waits[want] == nil { waits[want] = .now }
    }

    /// Notes that nothing waits for this use any more.
    func endWait(for use: JournalUse) {
        if !waits.isEmpty { waits[.journal(use)] = nil }
    }

    /// When it is to be told that the app waits, unless it has room until then.
    var nextNews: Moment? { isTold ? nil : waits.values.min().map { $0 + Self.patience } }

    /// Why the app waits, if it has for a while: what is to be shown of it.
    var reason: String? { told?.waiting }

    /// What to do about it.
    var hint: String? { told?.hint }

    private var told: Want? { isTold ? waits.min { $0.value < $1.value }?.key : nil }

    /// Whether a wait that is to be told has begun or ended since the last call.
    func hasNews(at now: Moment) -> Bool {
        let isLong = waits.values.contains { $0 + Self.patience <= now }
        defer { isTold = isTold ? !waits.isEmpty : isLong }
        return isTold ? waits.isEmpty : isLong
    }
}

extension JournalRoom.Want {
    /// What an app waits for, in words.
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
            "see whether the gateway takes jobs and feedback/ can be written; journal.size makes the journal larger"
        case .lines: "see why feedback/ cannot be written: its owner and mode, and the space on its volume"
        case .hook:
            "see which hooks take long: \(HookGate.limit) begin at a time, and make room after a second at the latest"
        }
    }
}
