import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolModel

extension AppRunner {
    /// Takes what the gateway tells, until it ends.
    func runEvents() async {
        for await event in gateway.events {
            noteStanding(event)
            outage.note(event, at: .now)
            count(event)
            switch event {
            case .settled(let settlements):
                await settle(settlements)
            case .reopened(let batches):
                reopen(batches)
                journal.write()
            case .paused(let counts): note(paused: counts)
            case .withdrawn(let batches): withdraw(batches)
            case .announcing(let batches): noteAnnouncement(batches)
            case .connected(let endpoint):
                logger.info("connected", metadata: [LogKey.gateway: "\(endpoint)"])
            case .troubled(let fault):
                logger.warning("the gateway takes nothing", metadata: fault.metadata)
            case .disconnected(let report):
                log(report)
            case .stopped where lifecycle.isEnding:
                // A connection that we cut may look like one that the gateway did not want.
                break
            case .stopped(let fault):
                logger.error("app stopped", metadata: fault.metadata)
            case .trying:
                intakeBell.ring()
                logger.notice("app asks again")
            case .resumed:
                intakeBell.ring()
                logger.notice("app resumed")
            case .suspectEnvironment:
                let hint: Logger.MetadataValue =
                    "check environment: tokens of the other environment are refused like this"
                logger.warning("most tokens are refused and none was ever accepted", metadata: [LogKey.hint: hint])
            }
            // A connection that is lost leaves nothing in doubt either.
            if isRetiring { await retire() }
        }
    }

    /// Takes how many notifications of jobs pause: jobs with too many rest, and some may have rested long enough.
    private func note(paused counts: [JobID: Int]) {
        for (job, count) in counts {
            let woken = readable.note(count, of: job)
            for lane in Lane.allCases where woken.contains(lane) { pumpBells[lane.rank].ring() }
        }
    }

    private func noteStanding(_ event: GatewayEvent) {
        let (phase, trouble) = (standing.phase, standing.trouble)
        standing.note(event, at: .now, stopPause: app.retryCeiling)
        if standing.phase != phase || standing.trouble != trouble { show() }
    }

    /// Counts what the event says of connections.
    private func count(_ event: GatewayEvent) {
        switch event {
        case .connected: around.meter.count { $0.noteConnection() }
        case .disconnected(let report):
            let isRoutine = report.isRoutine || lifecycle.isEnding
            around.meter.count {
                $0.noteEndOfConnection(
                    isRoutine: isRoutine, resent: report.resentCount, doubtful: report.doubtfulCount)
            }
        case .settled, .reopened, .withdrawn, .announcing, .paused, .troubled, .stopped, .trying, .resumed,
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
        // That the program itself cuts a connection with nothing on it is no news.
        if lifecycle.isEnding, metadata[LogKey.doubtful] == nil, metadata[LogKey.unknown] == nil { return }
        if let window = report.window, !lifecycle.isEnding { metadata[LogKey.window] = "\(window)" }
        if report.pause > .zero, !lifecycle.isEnding { metadata[LogKey.pause] = "\(report.pause)" }
        logger.log(level: report.isRoutine ? .info : .warning, "connection ended", metadata: metadata)
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
