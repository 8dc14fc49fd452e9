import APNSGateway
import APNSModel
import LinuxIO
import SpoolModel
import SpoolStore
import Synchronization

extension AppRunner {
    /// How often jobs are looked at for their progress, and for how long one must have been under way.
    static let progressPause = Duration.seconds(1)
    /// Of how many jobs the progress is shown, the longest.
    private static let shownLimit = 20

    /// Looks how far jobs are that take long.
    func lookAtProgress() {
        if jobs.isEmpty { (progress, shownJobs, oldestDrop) = ([:], [], nil) }
        guard Moment.now >= nextProgressLook else { return }
        nextProgressLook = .now + Self.progressPause
        let now = WallTime.now
        oldestDrop = jobs.values.lazy.map(\.droppedAt).min()
        let long = jobs.values.filter { !$0.machine.isOver && $0.claimedAt + Self.progressPause <= now }
            .sorted {
                ($1.summary.recipientCount, $0.claimed.id.bits) < ($0.summary.recipientCount, $1.claimed.id.bits)
            }
            .prefix(Self.shownLimit)
        var looks: [JobID: JobProgress] = [:]
        shownJobs = long.map { job in
            var progress = progress[job.claimed.id] ?? JobProgress()
            progress.note(settledCount: job.machine.tally.total, at: .now)
            looks[job.claimed.id] = progress
            return SpoolStatus.Job(job, progress)
        }
        progress = looks
    }

    /// Leaves word of what the app is doing, for a status that is written without asking it: it may hang.
    func show() {
        standing.note(inFlight: gateway.events.meter.inFlightCount, at: .now)
        let app = status
        var queue = AppMetrics.Queue()
        (queue.waitingCount, queue.activeCount, queue.heldCount) = (intake.knownCount, activeCount, space.heldCount)
        queue.ignoredCount = intake.ignoredCount
        (queue.oldestWaiting, queue.oldestActive) = (intake.oldestReady, oldestDrop)
        let free = space.freeByteCount
        around.meter.count { ($0.queue, $0.freeByteCount) = (queue, free) }
        let isNews = shown.withLock { shown in
            defer { shown = app }
            return shown.state != app.state || shown.reason != app.reason
                || shown.ignoredCount != app.ignoredCount
                || (shown.jobCount == 0) != (app.jobCount == 0)
        }
        guard isNews else { return }
        around.statusBell.ring()
        around.journalBell.ring()
    }

    private var status: SpoolStatus.App {
        var status = SpoolStatus.App(name: name, state: state)
        status.jobCount = activeCount
        if let pausedAt {
            (status.since, status.reason) = (pausedAt, "is paused by an operator; resume lets it go on")
        } else {
            status.reason = room.reason ?? standing.trouble?.words
            (status.since, status.until) = (standing.trouble?.since, standing.trouble?.nextTry)
        }
        // A gateway of the binary protocol answers only what it refuses.
        if status.state == .sending, status.reason == nil, app.wire == .http2,
            let since = standing.silentSince(at: .now)
        {
            status.since = since
            status.reason = "waits for answers: its gateway takes notifications and says nothing"
        }
        status.answeredAt = standing.answeredAt
        status.ignoredCount = intake.ignoredCount
        status.gateway = "\(app.endpoint)"
        status.progress = shownJobs
        return status
    }
}

extension AppRunner {
    private var state: SpoolStatus.AppState {
        switch standing.phase {
        case _ where isDraining: return .ending
        case _ where pausedAt != nil: return .paused
        case .stopped: return .stopped
        case .asking: return .asking
        case .open where space.isShort: return .full
        case .open: break
        }
        switch standing.trouble?.kind {
        case .unreachable?: return .unreachable
        case .refused?: return .refused
        case .stop?, nil: break
        }
        if activeCount == 0 { return .idle }
        return gateway.events.meter.connectionCount > 0 ? .sending : .connecting
    }
}

extension SpoolStatus.Job {
    fileprivate init(_ job: ActiveJob, _ progress: JobProgress) {
        let (count, settledCount) = (job.summary.recipientCount, job.machine.tally.total)
        self.init(name: "\(job.claimed.name)", id: job.claimed.id, count: count, settledCount: settledCount)
        rate = progress.rate.map { Int($0.rounded()) }
        remaining = progress.remaining(count - settledCount).map { .seconds(Int(($0 / .seconds(1)).rounded(.up))) }
    }
}
