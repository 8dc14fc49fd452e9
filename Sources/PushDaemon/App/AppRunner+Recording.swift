import APNSGateway
import APNSModel
import LinuxIO
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
            guard await syncJournal(isPatient: true) else { return }
            await gateway.recorded(count)
        }
    }

    /// Records what is about to be written of jobs that must not be sent twice, for good, and lets it go; until the task is
    /// cancelled.
    func runAnnouncing() async {
        while !Task.isCancelled {
            await announceBell.wait()
            let batches = announcements
            guard !batches.isEmpty else { continue }
            announcements = []
            for batch in batches { record(.intent(batch.job, [batch.indices])) }
            guard await syncJournal(for: .intent) else { return }
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
            record(.reopened(job, runs.runs))
        }
        writeJournal()
    }

    /// Takes back, at the end, what was announced of jobs that must not be sent twice and never written: the next start may.
    func withdrawIntents() async {
        for (id, job) in jobs where job.summary.header.onDoubt == .report && !job.machine.isOver {
            let waiting = await gateway.remove(id) + freed.filter { $0.job == id }
            guard let intents = around.journal.job(id)?.intents else { continue }
            let announced = waiting.flatMap { intents.intersection($0.indices) }
            if !announced.isEmpty { record(.reopened(id, announced)) }
        }
    }
}
