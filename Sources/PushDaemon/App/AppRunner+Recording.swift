import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

extension AppRunner {
    /// Tells the gateway which outcomes are recorded for good, until the task is cancelled: what is answered and not durable
    /// has its place in the windows, so that no death costs more than they and a group.
    func runRecording() async {
        while !Task.isCancelled {
            await recordBell.wait()
            let count = unrecordedCount
            guard count > 0 else { continue }
            unrecordedCount = 0
            guard await journal.sync(isPatient: true) else { return }
            await gateway.recorded(count)
        }
    }

    /// How many bytes an outcome takes in the journal at most, its place in the sets of its job included.
    private static let outcomeByteCount = 256
    /// For how many settlements there is to be room at a time: fewer bytes than the least share has.
    private static let settledAtOnce = 32

    /// Records outcomes and writes their lines, as the app's share of the journal and of lines in memory allow.
    ///
    /// Meanwhile the gateway goes on until its windows are full: what it is not told to be recorded counts there.
    func settle(_ settlements: [Settlement]) async {
        var rest = settlements[...]
        while !rest.isEmpty {
            let group = rest.prefix(Self.settledAtOnce)
            guard await mayRecord(outcomes: group.count) else {
                return warnOfUnrecorded(rest.reduce(0) { $0 + $1.batch.count })
            }
            for settlement in group { settle(settlement) }
            rest = rest.dropFirst(group.count)
        }
        journal.write()
        noteUnrecorded(settlements)
    }

    /// The app ends. They are in doubt, as if it had died: the next start sends them again or calls them unknown.
    private func warnOfUnrecorded(_ count: Int) {
        logger.warning(
            "outcomes could not be recorded before the app ended", metadata: [LogKey.count: "\(count)"])
    }

    /// How much of what was taken back is settled in one step, which takes a millisecond or two, and in one record; and how many
    /// bytes a range of it takes in the journal at most: as many in all as a group of other outcomes.
    private static let backLimits = BatchGroups.Limits(batchCount: 256, count: 1_024)
    private static let rangeByteCount = 32

    /// Gives what was taken back of a job an outcome, in the order of the file: a group at a time, as the app's share of the
    /// journal and of lines in memory allow. Others go on in between.
    ///
    /// - Returns: `false` when the app ends before that.
    @discardableResult
    func settle(takenBack batches: [Batch], of id: JobID, _ outcome: Outcome) async -> Bool {
        var unsettledCount = batches.notificationCount
        for group in BatchGroups(batches, limits: Self.backLimits) {
            guard await mayRecordTakenBack() else {
                warnOfUnrecorded(unsettledCount)
                return false
            }
            // It may have been parked meanwhile, because its file was changed.
            guard let job = jobs[id] else { return true }
            settle(group, of: job, outcome)
            unsettledCount -= group.notificationCount
            journal.write()
            await files.worker.yield()
        }
        return true
    }

    /// Waits until a group of what was taken back may be recorded. Several may wait here, so nobody rings for them.
    ///
    /// - Returns: `false` when the app ends before.
    private func mayRecordTakenBack() async -> Bool {
        let byteCount = Self.backLimits.batchCount * Self.rangeByteCount
        while !journal.isBroken {
            if mayRecord(byteCount, number: 1, orRing: publishBell) { break }
            if lifecycle.isEnding || Task.isCancelled { return false }
            lookAtProgress()
            tellWaits()
            show()
            try? await around.reactor.sleep(for: .milliseconds(20))
        }
        room.endWait(for: .outcomes)
        return true
    }

    /// Settles a group of one job: what has no outcome yet in one record, and corrects what has one.
    private func settle(_ group: [Batch], of job: ActiveJob, _ outcome: Outcome) {
        let id = job.claimed.id
        var awaited: [Batch] = []
        for batch in group {
            var told = IndexRuns(batch.indices)
            for range in job.machine.remaining.intersection(batch.indices) {
                awaited.append(batch[range])
                told.subtract(range)
            }
            for range in told.runs { settle(Settlement(batch[range], outcome)) }
        }
        guard !awaited.isEmpty else { return }
        for batch in awaited {
            writer.appendNotifications(Settlement(batch, outcome), of: job.identity, at: .now, to: &lines)
        }
        publishBell.ring()
        note(awaited.map(\.indices), outcome, id)
        for batch in awaited { handle(.settled(batch.indices, outcome), id) }
    }

    /// Notes of much of a job that is to be held that it is not on its way to a connection any more, a group at a time.
    func noteAllReturned(_ batches: [Batch], of id: JobID) async {
        for group in BatchGroups(batches, limits: Self.backLimits) {
            noteReturned(group, of: id)
            await files.worker.yield()
        }
    }

    /// Waits until so many outcomes may be recorded: there is room, or nothing that would make some.
    ///
    /// - Returns: `false` when the app ends before.
    private func mayRecord(outcomes count: Int) async -> Bool {
        var hasHurried = false
        while !journal.isBroken {
            if mayRecord(count * Self.outcomeByteCount, number: 0, orRing: roomBell) {
                room.endWait(for: .outcomes)
                return true
            }
            if lifecycle.isEnding { return false }
            if !hasHurried { lastPublication = .zero }
            hasHurried = true
            publishBell.ring()
            await roomBell.wait()
        }
        return true
    }

    /// Whether outcomes of so many bytes may be recorded: there is room, or nothing that would make some.
    private func mayRecord(_ byteCount: Int, number: Int, orRing bell: Bell) -> Bool {
        let hasRoom = room.has(byteCount, for: .outcomes, number: number, orRing: bell)
        return hasRoom && !hasTooManyLines || lines.isEmpty && !isPublishing
    }

    /// Waits before more of a lane's jobs is read: for room in the journal, but not for long, since what is under way needs little
    /// and makes room when it ends; and until there are not too many lines in memory, which nothing but their publication makes
    /// fewer.
    ///
    /// - Returns: `false` when there is something else to do first: to hand out what was taken back, or to end.
    func waitForRoomToSend(_ lane: Lane) async -> Bool {
        let bell = pumpBells[lane.rank]
        while hasTooManyLines
            || !room.has(Self.turnByteCount, for: .sending, number: lane.rank, orRing: bell) && !isRetelling
        {
            await bell.wait(until: .now + .seconds(1))
            if Task.isCancelled || !freed.isEmpty(lane) { return false }
            if lines.isEmpty && !isPublishing { break }
        }
        room.endWait(for: .sending)
        return true
    }

    /// How many bytes a turn takes in the journal, as a rule: those of its recipients that are refused at once.
    private static let turnByteCount = 16 << 10

    /// Records what is about to be written of jobs that must not be sent twice, for good, and lets it go; until the task is
    /// cancelled.
    func runAnnouncing() async {
        while !Task.isCancelled {
            await announceBell.wait()
            let batches = announcements
            guard !batches.isEmpty else { continue }
            announcements = []
            for batch in batches { journal.record(.intent(batch.job, [batch.indices])) }
            guard await journal.sync(for: .intent) else { return }
            await gateway.announced(batches)
        }
    }

    /// Notes outcomes that the gateway has told, and whose records are in the file.
    func noteUnrecorded(_ settlements: [Settlement]) {
        unrecordedCount += settlements.reduce(0) { $0 + $1.batch.count }
        recordBell.ring()
    }

    /// Notes what the gateway is about to write and must be recorded before.
    func noteAnnouncement(_ batches: [Batch]) {
        announcements += batches
        announceBell.ring()
    }

    /// Takes back that these are about to be written: the gateway has not processed them, and nobody is in doubt.
    func withdraw(_ batches: [Batch]) {
        for (job, batches) in Dictionary(grouping: batches, by: \.job) {
            var runs = IndexRuns()
            for batch in batches { runs.insert(batch.indices) }
            journal.record(.reopened(job, runs.runs))
        }
        journal.write()
    }

    /// Takes back, at the end, what was announced of jobs that must not be sent twice and never written: the next start may.
    func withdrawIntents() async {
        for (id, job) in jobs where job.summary.header.onDoubt == .report && !job.machine.isOver {
            let waiting = await gateway.remove(id) + freed.batches(of: id)
            guard let intents = around.journal.job(id)?.intents else { continue }
            let announced = waiting.flatMap { intents.intersection($0.indices) }
            if !announced.isEmpty { journal.record(.reopened(id, announced)) }
        }
    }
}
