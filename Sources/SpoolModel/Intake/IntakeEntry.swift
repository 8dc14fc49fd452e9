import JobFormat
import PushModel

/// The intake's state for one name.
struct IntakeEntry: Sendable {
    /// The current step for the file.
    enum Phase: Hashable, Sendable {
        /// The file needs an `lstat`.
        case wantsLook
        /// The shell is looking at the file.
        case looking
        /// Nothing happens until a timer or a hint.
        case waiting
        /// The file is ready to be taken in its turn.
        case ready
        /// The shell is reading or moving the file.
        case taken
    }

    var phase = Phase.wantsLook
    /// Distinguishes the current timer or turn from earlier ones.
    var ticket: UInt64 = 0
    /// The result of the last `lstat`.
    var sighting: IntakeSighting?
    /// Whether a hint has reported a change since the sighting. The next look then finds an expected difference.
    var isSightingStale = false
    /// Whether the file appeared under its name in one step.
    var isPublishedByRename: Bool
    /// When this file was first noticed; an earlier file of the name does not count.
    var noticedAt: Moment
    /// Since when the file has been unchanged, according to hints and sightings.
    var stableSince: Moment { didSet { age = .zero } }
    /// For how long it had been unchanged then, at most the time to settle.
    private(set) var age = Duration.zero
    /// The file's position in the order: its ctime when it was first seen, by the filesystem's clock.
    var order: WallTime?
    /// How many attempts to take it have failed in a row.
    var attempts = 0
    /// When to try again after a failed attempt.
    var retryAt: Moment?
    /// Whether the log already has a warning about it.
    var wasReported = false
    /// Whether the log already says that it waits for its end marker.
    var wasToldUnmarked = false
    /// The latest hint that arrived while the shell had the file.
    var pending: IntakeHint?
    /// Whether the daemon itself renamed the file back. The watch reports that rename like a producer's.
    var homecoming: ReturnedFile?
    /// The record from the file's postponement, until the next look.
    var postponement: IntakePostponement?
    /// Whether to read the file again even if unchanged, because its time has come.
    var isDue = false
    /// The last scan that listed it.
    var scan: UInt64

    /// A file that the daemon renamed back, and whether it has been looked at since.
    enum ReturnedFile: Hashable, Sendable {
        case unseen, seen
    }

    init(isPublishedByRename: Bool, at now: Moment, scan: UInt64) {
        self.isPublishedByRename = isPublishedByRename
        self.noticedAt = now
        self.stableSince = now
        self.scan = scan
    }

    /// Resumes a postponed file: it was complete then, and still is unless a look shows that it was written to.
    init(_ postponement: IntakePostponement, isDue: Bool, at now: Moment, scan: UInt64) {
        self.init(isPublishedByRename: postponement.isPublishedByRename, at: now, scan: scan)
        (self.postponement, self.isDue) = (postponement, isDue)
        (order, stableSince, phase) = (postponement.order, .zero, .waiting)
    }

    /// Whether the file waits for a timer, a hint or its turn: nobody has it, and no look is due.
    var isIdle: Bool { phase == .waiting || phase == .ready }

    /// Whether the file is ready, and the turn is its current one.
    func isReady(_ turn: IntakeTurn) -> Bool { phase == .ready && ticket == turn.ticket }

    /// Whether the file must settle, and may have done so before the first look, which is to come.
    var mayHaveSettled: Bool { sighting == nil && postponement == nil && !isPublishedByRename }

    /// Records, before the first sighting, for how long the file has been unchanged already.
    mutating func noteAge(_ age: Duration, at now: Moment) {
        self.age = max(.zero, age - (now - stableSince))
    }

    /// Records a sighting.
    ///
    /// - Returns: Whether this is another file than the one seen before.
    mutating func note(_ new: IntakeSighting, at now: Moment) -> Bool {
        defer {
            (sighting, isSightingStale, order) = (new, false, order ?? new.identity.changedAt)
            if homecoming == .unseen { homecoming = .seen }
        }
        if let old = postponement { return note(new, since: old, at: now) }
        guard let old = sighting, old != new else { return false }
        (attempts, retryAt, wasReported) = (0, nil, false)
        if !isSightingStale { stableSince = now }
        if (old.identity.device, old.identity.inode) != (new.identity.device, new.identity.inode) {
            (order, noticedAt) = (new.identity.changedAt, now)
            if homecoming == .seen { homecoming = nil }
            return true
        }
        if !old.isUnwritten(in: new) { isPublishedByRename = false }
        return false
    }

    /// Records the first sighting of a file that was postponed.
    private mutating func note(_ new: IntakeSighting, since old: IntakePostponement, at now: Moment) -> Bool {
        postponement = nil
        guard old.mark != new.mark else { return false }
        if !isSightingStale { (stableSince, isPublishedByRename) = (now, false) }
        guard old.inode != new.identity.inode else { return false }
        (order, noticedAt) = (new.identity.changedAt, now)
        return true
    }

    /// Records a hint that the file changed. For a file that the daemon renamed back, no hint proves it complete.
    mutating func restart(isPublishedByRename: Bool, at now: Moment) {
        self.isPublishedByRename = isPublishedByRename && homecoming == nil
        stableSince = now
        isSightingStale = true
        (attempts, retryAt) = (0, nil)
    }
}

/// When to look at a name again.
struct IntakeTimer: Comparable, Sendable {
    let moment: Moment
    let name: FileName
    let ticket: UInt64

    static func < (left: IntakeTimer, right: IntakeTimer) -> Bool { left.moment < right.moment }
}

/// A name's turn to be taken: ordered by when the file appeared, then by the bytes of the name.
struct IntakeTurn: Comparable, Sendable {
    let order: WallTime
    let name: FileName
    let ticket: UInt64

    static func < (left: IntakeTurn, right: IntakeTurn) -> Bool {
        left.order == right.order ? left.name < right.name : left.order < right.order
    }
}
