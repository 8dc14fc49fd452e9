import PushModel

/// The search for a notification that was refused without being named, among suspects that may all have been accepted.
///
/// Suspects are sent in groups. Each group must be confirmed before the next is sent, so that a second unnamed refusal
/// points to one group. Groups start small and double while they succeed; a group that fails is searched in eighths.
/// Each suspect is therefore sent a few times (about log₈ of the window), and not once per refusal, as by senders that
/// resend the whole window each time.
struct Hunt: Sendable {
    private static let firstGroupSize = 32

    private var suspects = BatchList()
    private var groupSize: Int
    /// How many of the first suspects belong to a failed group. They are sent in groups that do not grow.
    private var searchCount = 0
    /// How many notifications of the current group are still to be written.
    private var roomInGroup: Int
    /// The written notifications of the current group that have no outcome yet.
    private var group = NotificationSet()

    /// Starts a hunt. `others` follow the suspects, since they must be resent anyway.
    init(suspects: [Batch], others: [Batch]) {
        let count = suspects.notificationCount
        self.groupSize = max(1, min(Self.firstGroupSize, count / 8))
        self.roomInGroup = groupSize
        self.suspects.prepend(suspects + others)
    }

    /// The number of suspects that wait to be sent.
    var waitingCount: Int { suspects.count }

    /// Whether the group is written and its outcome must be awaited.
    var isWaiting: Bool { roomInGroup == 0 || suspects.isEmpty }

    /// Whether no suspects are left.
    var isOver: Bool { suspects.isEmpty && group.isEmpty }

    mutating func next(atMost limit: Int) -> Batch? {
        guard let batch = suspects.takeFirst(min(limit, roomInGroup)) else { return nil }
        roomInGroup -= batch.count
        searchCount = max(0, searchCount - batch.count)
        group.insert(batch)
        return batch
    }

    mutating func putBack(_ batch: Batch) {
        suspects.prepend([batch])
        roomInGroup += batch.count
        if searchCount > 0 { searchCount += batch.count }
        group.remove(batch)
    }

    /// Notes that the notifications of `settled` have outcomes. Returns whether the hunt has ended.
    mutating func confirm(_ settled: Batch) -> Bool {
        group.remove(settled)
        if group.isEmpty, roomInGroup == 0 {
            if searchCount == 0 { groupSize *= 2 }
            roomInGroup = groupSize
        }
        return isOver
    }

    /// Takes back the notifications that a lost connection left of the group, or of those written before the hunt began.
    /// Returns whether the hunt has ended.
    mutating func resume(_ tail: [Batch], hasFailed: Bool) -> Bool {
        let count = tail.notificationCount
        for batch in tail { group.remove(batch) }
        suspects.prepend(tail)
        if hasFailed, count > 0 {
            groupSize = max(1, min(groupSize, count / 8))
            searchCount = count
        }
        if group.isEmpty { roomInGroup = groupSize }
        return isOver
    }

    /// The waiting batches of a job.
    func batches(of job: JobID) -> [Batch] {
        suspects.all { $0.job == job }
    }

    mutating func remove(_ job: JobID) -> [Batch] {
        suspects.takeAll { $0.job == job }
    }
}
