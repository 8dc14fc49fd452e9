import Gateways
import JournalModel
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SharedResources
import SpoolModel
import SpoolStore

/// Processes the events of an app's gateway, and confirms durable records to it.
final class GatewayListener {
    private let parts: AppParts
    private let context: AppContext
    private let gateway: any PushGateway
    private let outcomes: OutcomeRecorder
    private let status: StatusReporter
    /// The number of notifications with recorded outcomes that were not confirmed to the gateway as durable.
    private var unrecordedCount = 0
    /// Signalled when that number increases.
    private let recordWakeup: Wakeup
    /// The batches that the gateway waits to write, and that the journal has not announced yet.
    private var announcements: [Batch] = []
    /// Signalled when a batch is added.
    private let announceWakeup: Wakeup

    init(_ parts: AppParts, _ outcomes: OutcomeRecorder, _ status: StatusReporter) {
        (self.parts, self.outcomes, self.status) = (parts, outcomes, status)
        (context, gateway) = (parts.context, parts.gateway)
        recordWakeup = context.makeTaskWakeup()
        announceWakeup = context.makeTaskWakeup()
    }

    /// Processes the gateway's events until they end.
    ///
    /// - Parameter afterEach: Called after each event.
    func run(afterEach: () async -> Void) async {
        for await event in gateway.events {
            if parts.state.note(event) { status.show() }
            count(event)
            await handle(event)
            await afterEach()
        }
    }

    private func handle(_ event: GatewayEvent) async {
        switch event {
        case .settled(let settlements):
            parts.accepted.note(settlements)
            endRefusals(settlements)
            if await outcomes.settle(settlements) { noteUnrecorded(settlements) }
        case .reopened(let batches): outcomes.reopen(batches)
        case .paused(let counts): parts.jobs.note(paused: counts)
        case .withdrawn(let batches): outcomes.withdraw(batches)
        case .announcing(let batches):
            announcements += batches
            announceWakeup.signal()
        case .connected(let endpoint): context.logger.info("connected", metadata: [LogKey.gateway: "\(endpoint)"])
        case .troubled(let fault, let pause):
            var metadata = fault.metadata
            if let pause { metadata[LogKey.pause] = "\(pause)" }
            context.logger.warning("cannot send to the gateway", metadata: metadata)
        case .refusedJob(let id, let fault, let pause): note(fault, of: id, pause)
        case .disconnected(let report): log(report)
        // A connection that the daemon cut may look like one that the gateway rejected.
        case .stopped where context.lifecycle.isEnding: break
        case .stopped(let fault, let stop):
            // Another job may show that the app is not at fault.
            if stop.asksOthers { parts.intakeWakeup.signal() }
            context.logger.error(
                "app stopped", metadata: fault.metadata.merging([LogKey.pause: "\(stop.pause)"]) { $1 })
        case .trying:
            parts.intakeWakeup.signal()
            context.logger.notice("app tries its gateway again")
        case .resumed:
            parts.intakeWakeup.signal()
            context.logger.notice("app resumed")
        case .suspectEnvironment:
            let hint: Logger.MetadataValue =
                "check environment, or for FCM the project of the service account: the gateway rejects tokens of others"
            context.logger.warning(
                "most tokens are rejected and none was ever accepted", metadata: [LogKey.hint: hint])
        }
    }

    /// Notes that the gateway refuses a job, and logs that once for each job.
    private func note(_ fault: GatewayFault, of id: JobID, _ pause: Duration?) {
        guard let job = parts.jobs[id] else { return }
        let refusal = GatewayRefusal(fault: fault, until: pause.map { .now + $0 })
        guard parts.jobs.refusals.updateValue(refusal, forKey: id) == nil else { return }
        context.logger.warning(
            pause == nil ? "gateway refuses a notification of a job" : "gateway refuses job",
            metadata: [
                LogKey.job: "\(job.claimed.name)", LogKey.id: "\(id)", LogKey.error: "\(fault.message)",
                LogKey.hint: "\(GatewayRefusal.hint)",
            ])
    }

    /// Ends the refusals of jobs that the gateway has judged without blaming the app.
    private func endRefusals(_ settlements: [Settlement]) {
        guard !parts.jobs.refusals.isEmpty else { return }
        for settlement in settlements {
            switch settlement.outcome {
            case .accepted, .rejected: parts.jobs.refusals[settlement.batch.job]?.until = nil
            case .expired, .unsent, .unknown: break
            }
        }
    }

    /// Counts the events of connections in the metrics.
    private func count(_ event: GatewayEvent) {
        switch event {
        case .connected: context.daemon.meter.count { $0.noteConnection() }
        case .disconnected(let report):
            let isRoutine = report.isRoutine || context.lifecycle.isEnding
            context.daemon.meter.count {
                $0.noteEndOfConnection(
                    isRoutine: isRoutine, resent: report.resentCount, doubtful: report.doubtfulCount)
            }
        case .settled, .reopened, .withdrawn, .announcing, .paused, .troubled, .refusedJob, .stopped, .trying, .resumed,
            .suspectEnvironment:
            break
        }
    }

    private func log(_ report: ConnectionReport) {
        var metadata = report.fault.metadata
        let counts = [
            (LogKey.resent, report.resentCount), (LogKey.doubtful, report.doubtfulCount),
            (LogKey.unknown, report.unknownCount), (LogKey.revoked, report.revokedCount),
            (LogKey.lost, report.lostCount),
        ]
        for (key, count) in counts where count > 0 { metadata[key] = "\(count)" }
        let isEnding = context.lifecycle.isEnding
        // The daemon itself cuts the connections when it stops, which is not worth a log line if they are empty.
        if isEnding, metadata[LogKey.doubtful] == nil, metadata[LogKey.unknown] == nil { return }
        if let window = report.window, !isEnding { metadata[LogKey.window] = "\(window)" }
        if report.pause > .zero, !isEnding { metadata[LogKey.pause] = "\(report.pause)" }
        context.logger.log(level: report.isRoutine ? .info : .warning, "connection ended", metadata: metadata)
    }

    // MARK: Durable records

    private func noteUnrecorded(_ settlements: [Settlement]) {
        unrecordedCount += settlements.reduce(0) { $0 + $1.batch.count }
        recordWakeup.signal()
    }

    /// Confirms durable records to the gateway until the task is cancelled. Answered notifications count against the
    /// windows until their records are durable, so a crash costs at most the windows and one group.
    @inline(never) func runRecording() async {
        while !Task.isCancelled {
            await recordWakeup.wait()
            let count = unrecordedCount
            guard count > 0 else { continue }
            unrecordedCount = 0
            guard await parts.journal.sync(isPatient: true) else { return }
            await gateway.recorded(count)
        }
    }

    /// Durably announces batches of jobs that must not be sent twice, and then releases them to the gateway, until the
    /// task is cancelled.
    @inline(never) func runAnnouncing() async {
        while !Task.isCancelled {
            await announceWakeup.wait()
            let batches = announcements
            guard !batches.isEmpty else { continue }
            announcements = []
            for batch in batches { parts.journal.record(.intent(batch.job, [batch.indices])) }
            guard await parts.journal.sync(for: .intent) else { return }
            await gateway.announced(batches)
        }
    }
}

extension GatewayFault {
    /// The fault as log metadata.
    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [LogKey.error: "\(message)"]
        if let hint { metadata[LogKey.hint] = "\(hint)" }
        return metadata
    }
}
