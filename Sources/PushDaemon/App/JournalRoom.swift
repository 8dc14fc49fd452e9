import APNSGateway
import APNSModel
import SpoolModel
import SpoolStore

/// Whether an app has room in the journal for what it is about to do, and since when it waits for some.
struct JournalRoom {
    /// How long a wait must last to be told: shorter ones are everyday business.
    private static let patience = Duration.seconds(1)

    private let journal: Journal
    private let app: String
    /// Since when the app waits, by what for.
    private var waits: [JournalUse: Moment] = [:]
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
    mutating func has(_ byteCount: Int, for use: JournalUse, number: Int = 0, orRing bell: Bell) -> Bool {
        let wish = RoomWish(app, for: use, number: number)
        let hasRoom = journal.hasRoom(for: wish, byteCount: byteCount) { bell.ring() }
        if hasRoom { endWait(for: use) } else if waits[use] == nil { waits[use] = .now }
        return hasRoom
    }

    /// Notes that nothing waits for this use any more.
    mutating func endWait(for use: JournalUse) {
        if !waits.isEmpty { waits[use] = nil }
    }

    /// When it is to be told that the app waits, unless it has room until then.
    var nextNews: Moment? { isTold ? nil : waits.values.min().map { $0 + Self.patience } }

    /// Why the app waits, if it has for a while: what is to be shown of it.
    var reason: String? {
        guard isTold, let use = waits.min(by: { $0.value < $1.value })?.key else { return nil }
        return use.waiting
    }

    /// Whether a wait that is to be told has begun or ended since the last call.
    mutating func hasNews(at now: Moment) -> Bool {
        let isLong = waits.values.contains { $0 + Self.patience <= now }
        defer { isTold = isTold ? !waits.isEmpty : isLong }
        return isTold ? waits.isEmpty : isLong
    }
}

extension JournalUse {
    /// What an app waits for, in words.
    fileprivate var waiting: String {
        switch self {
        case .claims: "waits for room in the journal to claim more jobs"
        case .sending: "waits for room in the journal to send more"
        case .outcomes: "waits for room in the journal to record outcomes"
        }
    }
}
