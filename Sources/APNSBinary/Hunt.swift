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
    /// How many of the present group are still to be written.
    private var roomInGroup: Int
    /// What is written of the present group, and how many of it have no outcome.
    private var written: [Batch] = []
    private var unconfirmedCount = 0

    /// Starts a hunt; `others` wait behind the suspects, since they were to be sent again anyway.
    init(suspects: [Batch], others: [Batch]) {
        let count = suspects.reduce(0) { $0 + $1.count }
        self.groupSize = max(1, min(Self.firstGroupSize, count / 8))
        self.roomInGroup = groupSize
        self.suspects.prepend(suspects + others)
    }

    /// Whether the group is out and its outcome must be awaited.
    var isWaiting: Bool { roomInGroup == 0 || suspects.isEmpty }

    /// Whether nobody is suspected any more.
    var isOver: Bool { suspects.isEmpty && unconfirmedCount == 0 }

    mutating func next(atMost limit: Int) -> Batch? {
        guard let batch = suspects.takeFirst(min(limit, roomInGroup)) else { return nil }
        roomInGroup -= batch.count
        unconfirmedCount += batch.count
        written.append(batch)
        return batch
    }

    mutating func putBack(_ batch: Batch) {
        suspects.prepend([batch])
        roomInGroup += batch.count
        unconfirmedCount -= batch.count
        if let last = written.last, last.indices.upperBound == batch.indices.upperBound {
            written[written.count - 1] = last[last.indices.lowerBound..<batch.indices.lowerBound]
        }
    }

    /// Notes that the notifications of `settled` have outcomes; returns whether the hunt is over.
    mutating func confirm(_ settled: Batch) -> Bool {
        for batch in written where batch.job == settled.job {
            unconfirmedCount -= batch.indices.clamped(to: settled.indices).count
        }
        if unconfirmedCount == 0, roomInGroup == 0 {
            groupSize *= 2
            roomInGroup = groupSize
            written = []
        }
        return isOver
    }

    /// Takes back what a dead connection left of the group; returns whether the hunt is over.
    mutating func resume(_ tail: [Batch], hasFailed: Bool) -> Bool {
        let count = tail.reduce(0) { $0 + $1.count }
        suspects.prepend(tail)
        if hasFailed { groupSize = max(1, count / 8) }
        roomInGroup = groupSize
        unconfirmedCount = 0
        written = []
        return isOver
    }

    mutating func remove(_ job: JobID) -> [Batch] {
        suspects.takeAll { $0.job == job }
    }
}
