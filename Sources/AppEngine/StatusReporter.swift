import Configuration
import Gateways
import JobFormat
import JournalModel
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SharedResources
import SpoolModel
import SpoolStore
import Synchronization

/// Reports the state of an app in the status and the metrics, and logs long waits.
final class StatusReporter {
    /// How often the progress of jobs is updated, and how long a job must be under way to be shown.
    private static let progressPause = Duration.seconds(1)
    /// The most jobs whose progress is shown: those that the gateway refuses, then those with the most recipients.
    private static let shownLimit = 20
    /// How often feedback files are counted.
    private static let feedbackPause = Duration.seconds(10)

    private let parts: AppParts
    private let context: AppContext
    private var app: ConfiguredApp
    /// The progress of long jobs, its form in the status, and when to update it.
    private var progress: [JobID: JobProgress] = [:]
    private var shownJobs: [SpoolStatus.Job] = []
    private(set) var nextLook = Moment.zero
    /// The feedback files that wait, and when to count them again.
    private var unread = UnreadFeedbackCount()
    private var nextCount = Moment.zero
    /// Runs the app's hook. Set before the first update.
    weak var hook: HookRunner?
    /// When the oldest job under way was dropped, as of the last update.
    private var oldestDrop: WallTime?

    init(_ parts: AppParts, _ app: ConfiguredApp) {
        (self.parts, self.app, context) = (parts, app, parts.context)
    }

    /// Uses another configuration.
    func configure(_ app: ConfiguredApp) { self.app = app }

    /// The number of jobs under way.
    var activeCount: Int { parts.jobs.count + parts.toRecover.found.count }

    /// Updates the progress, reports waits, and updates the status.
    func update() {
        context.assertOwnThread()
        lookAtProgress()
        countFeedback()
        reportWaits()
        show()
    }

    /// Updates the progress of long jobs.
    private func lookAtProgress() {
        if parts.jobs.isEmpty { (progress, shownJobs, oldestDrop) = ([:], [], nil) }
        guard Moment.now >= nextLook else { return }
        nextLook = .now + Self.progressPause
        let now = WallTime.now
        oldestDrop = parts.jobs.all.lazy.map(\.droppedAt).min()
        let rank = { [jobs = parts.jobs] (job: ActiveJob) in jobs.refusals[job.claimed.id]?.until == nil ? 0 : 1 }
        let long = parts.jobs.all.filter { !$0.machine.isOver && $0.claimedAt + Self.progressPause <= now }
            .sorted {
                let (left, right) = (rank($0), rank($1))
                return (right, $1.summary.recipientCount, $0.claimed.id.bits)
                    < (left, $0.summary.recipientCount, $1.claimed.id.bits)
            }
            .prefix(Self.shownLimit)
        var looks: [JobID: JobProgress] = [:]
        shownJobs = long.map { job in
            var progress = progress[job.claimed.id] ?? JobProgress()
            progress.note(settledCount: job.machine.tally.total, at: .now)
            looks[job.claimed.id] = progress
            return SpoolStatus.Job(job, progress, parts.jobs.refusals[job.claimed.id])
        }
        progress = looks
    }

    /// Counts the feedback files that wait, now and then.
    private func countFeedback() {
        guard Moment.now >= nextCount else { return }
        nextCount = .now + Self.feedbackPause
        guard let fault = unread.look(at: context.folder, after: hook?.last, now: .now) else { return }
        context.logger.warning("feedback/ cannot be read", metadata: [LogKey.error: "\(fault)"])
    }

    /// Logs that the app waits for room, once the wait lasts, and that it has ended.
    func reportWaits() {
        let room = parts.room
        room.note(tooManyLines: parts.lines.isOverfull)
        guard room.hasNews(at: .now) else { return }
        defer { show() }
        guard let reason = room.reason else { return context.logger.notice("app no longer waits for room") }
        context.logger.warning("app \(reason)", metadata: [LogKey.hint: "\(room.hint ?? "")"])
    }

    /// Stores the state for the status, which is written without asking the app, because the app may hang.
    func show() {
        parts.state.noteInFlight()
        let app = status
        var queue = AppMetrics.Queue()
        (queue.waitingCount, queue.activeCount) = (parts.intake.value.knownCount, activeCount)
        (queue.heldCount, queue.ignoredCount) = (parts.space.heldCount, parts.intake.value.ignoredCount)
        (queue.oldestWaiting, queue.oldestActive) = (parts.intake.value.oldestReady, oldestDrop)
        (queue.feedbackCount, queue.oldestFeedback) = (unread.count, unread.status?.oldest)
        queue.hookFailingSince = hook?.trouble?.since
        let free = parts.space.freeByteCount
        context.daemon.meter.count { ($0.queue, $0.freeByteCount) = (queue, free) }
        let isNews = context.lifecycle.shown.withLock { shown in
            defer { shown = app }
            return shown.state != app.state || shown.reason != app.reason
                || shown.ignoredCount != app.ignoredCount || shown.hookTrouble != app.hookTrouble
                || (shown.jobCount == 0) != (app.jobCount == 0)
        }
        guard isNews else { return }
        context.daemon.statusWakeup.signal()
        context.daemon.journalWakeup.signal()
    }

    private var status: SpoolStatus.App {
        let acceptance = parts.state.acceptance
        var status = SpoolStatus.App(name: context.name, state: state)
        status.jobCount = activeCount
        if let pausedAt = parts.state.pausedAt {
            (status.since, status.reason) = (pausedAt, "is paused by an operator; run `pushspool resume`")
        } else {
            let shortage = status.state == .full ? parts.space.shortage : nil
            status.reason = shortage ?? parts.room.reason ?? acceptance.trouble?.words
            (status.since, status.until) = (acceptance.trouble?.since, acceptance.trouble?.nextTry)
        }
        // A gateway of the binary protocol answers only rejected notifications.
        if status.state == .sending, status.reason == nil, app.configuration.binary == nil,
            let since = acceptance.silentSince(at: .now)
        {
            status.since = since
            status.reason = "waits for answers: its gateway accepts notifications but does not answer"
        }
        status.answeredAt = acceptance.answeredAt
        status.ignoredCount = parts.intake.value.ignoredCount
        (status.hookTrouble, status.unreadFeedback) = (hook?.trouble, unread.status)
        status.gateway = "\(app.configuration.endpoint)"
        status.progress = shownJobs
        return status
    }

    private var state: SpoolStatus.AppState {
        let acceptance = parts.state.acceptance
        switch acceptance.phase {
        case _ where context.lifecycle.isDraining: return .ending
        case _ where parts.state.pausedAt != nil: return .paused
        case .stopped: return .stopped
        case .asking: return .asking
        case .open where parts.space.isShort: return .full
        case .open: break
        }
        switch acceptance.trouble?.kind {
        case .unreachable?: return .unreachable
        case .refused?: return .refused
        case .stop?, nil: break
        }
        if activeCount == 0 { return .idle }
        return parts.gateway.events.meter.connectionCount > 0 ? .sending : .connecting
    }
}

extension SpoolStatus.Job {
    fileprivate init(_ job: ActiveJob, _ progress: JobProgress, _ refusal: GatewayRefusal?) {
        let (count, settledCount) = (job.summary.recipientCount, job.machine.tally.total)
        self.init(name: "\(job.claimed.name)", id: job.claimed.id, count: count, settledCount: settledCount)
        reason = refusal?.words
        rate = progress.rate.map { Int($0.rounded()) }
        remaining = progress.remaining(count - settledCount).map { .seconds(Int(($0 / .seconds(1)).rounded(.up))) }
    }
}
