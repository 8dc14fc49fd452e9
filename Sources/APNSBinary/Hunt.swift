import APNSModel

/// The search for a notification that was refused without being named, among suspects any of which may have been accepted.
///
/// Suspects go out in groups, and a group must be confirmed before the next is sent, so that a second unnamed refusal
/// points to one group. Groups start small and double while they pass; a group that fails is searched in eighths. So a
/// suspect is sent a few times (about log₈ of the window), never once per refusal, as with senders that resend the whole
/// window each time.
struct Hunt: Sendable {
    private static let firstGroupSize = 32

    private var suspects = BatchList()
    private var groupSize: Int
    /// How many of the suspects in front are of a group that failed: they go out in groups that do not grow.
    private var searchCount = 0
    /// How many of the present group are still to be written.
    private var roomInGroup: Int
    /// What is written of the present group and has no outcome yet.
    private var group = NotificationSet()

    /// Starts a hunt; `others` wait behind the suspects, since they were to be sent again anyway.
    init(suspects: [Batch], others: [Batch]) {
        let count = suspects.notificationCount
        self.groupSize = max(1, min(Self.firstGroupSize, count / 8))
        self.roomInGroup = groupSize
        self.suspects.prepend(suspects + others)
    }

    /// How many suspects wait to be sent.
    var waitingCount: Int { suspects.count }

    /// Whether the group is out and its outcome must be awaited.
    var isWaiting: Bool { roomInGroup == 0 || suspects.isEmpty }

    /// Whether nobody is suspected any more.
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

    /// Notes that the notifications of `settled` have outcomes; returns whether the hunt is over.
    mutating func confirm(_ settled: Batch) -> Bool {
        group.remove(settled)
        if group.isEmpty, roomInGroup == 0 {
            if searchCount == 0 { groupSize *= 2 }
            roomInGroup = groupSize
        }
        return isOver
    }

    /// Takes back what a dead connection left of the group, or of what had been written before the hunt began; returns
    /// whether the hunt is over.
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

    /// What waits of a job.
    func batches(of job: JobID) -> [Batch] {
        suspects.all { $0.job == job }
    }

    mutating func remove(_ job: JobID) -> [Batch] {
        suspects.takeAll { $0.job == job }
    }
}
