import APNSGateway
import APNSModel
import Document
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

extension AppRunner {
    /// Ends a job: its lines must be out before it is moved.
    func conclude(_ id: JobID) {
        jobs[id]?.finishedAt = .now
        dropSource(of: id)
        readable.removeAll { $0 == id }
        concluded.append(id)
        publishBell.ring()
    }

    /// Chooses where concluded jobs go, and writes their lines.
    private func writeConcluded() {
        let waiting = concluded
        concluded = []
        for id in waiting {
            guard var job = jobs[id], case .settled(let conclusion) = job.machine.state else { continue }
            do {
                let folder: ArchiveFolder = conclusion.state == .done ? .done : .failed
                let needsResult = job.result(conclusion, app: name).isNeeded
                job.place = try spool.place(for: job.claimed.name, in: folder, at: .now, withResult: needsResult)
                jobs[id] = job
                writer.appendJob(job.report(conclusion, app: name), to: &lines)
                finishing.append(id)
            } catch {
                concluded.append(id)
                logger.error("archive cannot be used", metadata: [LogKey.id: "\(id)", LogKey.error: "\(error)"])
            }
        }
    }

    /// Publishes lines and archives jobs, until the task is cancelled.
    func runPublication() async {
        while !Task.isCancelled {
            let due = lastPublication + around.configuration.feedbackEvery
            if lines.isEmpty, published.isEmpty, concluded.isEmpty {
                await publishBell.wait()
            } else if Moment.now < due {
                await publishBell.wait(until: due.instant)
            } else {
                publishLines()
            }
        }
    }

    /// Publishes what there is in one file, then archives the jobs that are over by it.
    func publishLines() {
        lastPublication = .now
        writeConcluded()
        if !lines.isEmpty {
            do {
                try folder.publish(lines, as: folder.nextName(at: .now))
            } catch {
                return logger.error("feedback cannot be written", metadata: [LogKey.error: "\(error)"])
            }
            lines = []
            for id in finishing { handle(.published, id) }
            published += finishing
            finishing = []
        }
        archivePublished()
    }

    private func archivePublished() {
        let waiting = published
        published = []
        for id in waiting {
            guard let job = jobs[id], let place = job.place, case .published(let conclusion) = job.machine.state else {
                continue
            }
            do {
                let result = job.result(conclusion, app: name)
                let final = try spool.archive(job.claimed, at: place, result: result.isNeeded ? result.bytes : nil)
                handle(.archived, id)
                jobs[id] = nil
                recent.add(job.identity)
                report(job, conclusion, at: final)
            } catch  where error.isNotFound && hasVanished(job.claimed) {
                jobs[id] = nil
                logger.error("job has vanished from work/", metadata: [LogKey.job: "\(job.claimed.name)"])
            } catch {
                published.append(id)
                logger.error("job cannot be archived", metadata: [LogKey.id: "\(id)", LogKey.error: "\(error)"])
            }
        }
        syncArchives()
        intakeBell.ring()
    }

    /// Makes the moves to the archives so far survive a power loss.
    func syncArchives() {
        do {
            try spool.syncArchives()
        } catch {
            logger.error("archive cannot be synced", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Whether somebody took the job's file away; not if that cannot be told.
    private func hasVanished(_ job: ClaimedJob) -> Bool {
        do {
            return try spool.work.status(of: job.entry.bytes) == nil
        } catch {
            return false
        }
    }

    private func report(_ job: ActiveJob, _ conclusion: SpoolModel.Conclusion, at place: ArchivePlace) {
        let tally = conclusion.tally
        var metadata: Logger.Metadata = [
            LogKey.job: "\(job.claimed.name)", LogKey.id: "\(job.claimed.id)", LogKey.path: "\(name)/\(place.path)",
            LogKey.count: "\(job.summary.recipientCount)", LogKey.accepted: "\(tally.accepted)",
        ]
        if tally.rejected > 0 { metadata[LogKey.rejected] = "\(tally.rejected)" }
        let other = tally.expired + tally.unsent + tally.unknown
        if other > 0 { metadata[LogKey.other] = "\(other)" }
        if let code = conclusion.code { metadata[LogKey.code] = "\(code.rawValue)" }
        if let fault = job.summary.fault { metadata[LogKey.error] = "\(fault.messageForLog)" }
        logger.notice(conclusion.state == .done ? "job done" : "job failed", metadata: metadata)
    }

    /// Takes what the gateway tells, until it ends.
    func runEvents() async {
        for await event in gateway.events {
            standing.note(event)
            switch event {
            case .settled(let settlements):
                for settlement in settlements { settle(settlement) }
            case .reopened(let batches):
                reopen(batches)
            case .connected(let endpoint):
                logger.info("connected", metadata: [LogKey.gateway: "\(endpoint)"])
            case .disconnected(let report):
                log(report)
            case .stopped where isEnding:
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

    private func log(_ report: ConnectionReport) {
        var metadata = report.fault.metadata
        let counts = [
            (LogKey.resent, report.resentCount), (LogKey.doubtful, report.doubtfulCount),
            (LogKey.unknown, report.unknownCount), (LogKey.revoked, report.revokedCount),
            (LogKey.lost, report.lostCount),
        ]
        for (key, count) in counts where count > 0 { metadata[key] = "\(count)" }
        // That the program itself cuts a connection with nothing on it is no news.
        if isEnding, metadata[LogKey.doubtful] == nil, metadata[LogKey.unknown] == nil { return }
        if report.pause > .zero, !isEnding { metadata[LogKey.pause] = "\(report.pause)" }
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

extension Diagnostic {
    /// The message with long quotations cut: people write tokens where other things belong, and a log holds none.
    var messageForLog: String {
        let pieces = message.split(separator: "`", omittingEmptySubsequences: false)
        return pieces.enumerated().map { $0 % 2 == 0 || $1.count <= 24 ? String($1) : $1.prefix(8) + "…" }
            .joined(separator: "`")
    }
}
