import APNSModel

/// What the intake knows of one name.
struct IntakeEntry: Sendable {
    /// What is being done about it.
    enum Phase: Hashable, Sendable {
        /// It is to be looked at.
        case wantsLook
        /// The shell looks at it.
        case looking
        /// Nothing is done until a timer or a hint.
        case waiting
        /// It is to be taken when its turn comes.
        case ready
        /// The shell reads or moves it.
        case taken
    }

    var phase = Phase.wantsLook
    /// Tells the current timer or turn from those of before.
    var ticket: UInt64 = 0
    /// What was last seen of it.
    var sighting: IntakeSighting?
    /// Whether a hint said since then that it changed, so that a change is no news.
    var isSightingStale = false
    /// Whether it appeared under its name in one step.
    var isPublishedByRename: Bool
    /// When this file, not another one of the name, was noticed.
    var noticedAt: Moment
    /// Since when it has been as it is, as far as anybody said.
    var stableSince: Moment
    /// Its place in the order: the filesystem's time of its last change when it was first seen.
    var order: WallTime?
    /// How often in a row it could not be had.
    var attempts = 0
    /// When to try again after that.
    var retryAt: Moment?
    /// Whether the log was told.
    var wasReported = false
    /// What the watch said while the shell had it.
    var pending: IntakeHint?
    /// Whether the file came by a rename of ours, which the watch tells of as of a producer's.
    var homecoming: Homecoming?
    /// What was kept of it while it was left alone, until it is looked at again.
    var postponement: IntakePostponement?
    /// Whether it is to be read again though it is as it was: its time has come.
    var isDue = false
    /// The last scan that listed it.
    var scan: UInt64

    /// A file that was put back, and whether it has been looked at since.
    enum Homecoming: Hashable, Sendable {
        case unseen, seen
    }

    init(isPublishedByRename: Bool, at now: Moment, scan: UInt64) {
        self.isPublishedByRename = isPublishedByRename
        self.noticedAt = now
        self.stableSince = now
        self.scan = scan
    }

    /// Begins again with a file that was left alone: it was whole then, and is unless a look shows that it was written to.
    init(_ postponement: IntakePostponement, isDue: Bool, at now: Moment, scan: UInt64) {
        self.init(isPublishedByRename: postponement.isPublishedByRename, at: now, scan: scan)
        (self.postponement, self.isDue) = (postponement, isDue)
        (order, stableSince, phase) = (postponement.order, .zero, .waiting)
    }

    /// Takes note of what was seen. Returns whether it is another file than the one seen before.
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
        let wasWritten = (old.byteCount, old.modifiedAt) != (new.byteCount, new.modifiedAt)
        if wasWritten { isPublishedByRename = false }
        return false
    }

    /// The same for a file that was left alone.
    private mutating func note(_ new: IntakeSighting, since old: IntakePostponement, at now: Moment) -> Bool {
        postponement = nil
        guard old.mark != new.mark else { return false }
        if !isSightingStale { (stableSince, isPublishedByRename) = (now, false) }
        guard old.inode != new.identity.inode else { return false }
        (order, noticedAt) = (new.identity.changedAt, now)
        return true
    }

    /// Takes note of a hint that it changed under its name; of a file that was put back none says that it is whole.
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

/// A name's turn to be taken: by the time it appeared, then by its bytes.
struct IntakeTurn: Comparable, Sendable {
    let order: WallTime
    let name: FileName
    let ticket: UInt64

    static func < (left: IntakeTurn, right: IntakeTurn) -> Bool {
        left.order == right.order ? left.name < right.name : left.order < right.order
    }
}
