import APNSGateway
import APNSModel
import Document
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

extension AppRunner {
    /// Ends a job: its lines must be out before it is moved. What an earlier run had not told of it is read and told first.
    func conclude(_ id: JobID) {
        guard let job = jobs[id], !job.isConcluded else { return }
        if job.source != nil, job.resumption?.untold.isEmpty == false { return }
        job.isConcluded = true
        // One that had ended before a crash ended then.
        job.finishedAt = job.resumption?.final?.finishedAt ?? .now
        dropSource(of: id)
        concluded.append(id)
        publishBell.ring()
    }

    /// Chooses where concluded jobs go, and writes their lines.
    private func writeConcluded() async {
        let waiting = concluded
        concluded = []
        await inGroups(waiting) { group in
            spool.keepingDaysOpen { writeEnds(of: group) }
        }
    }

    private func writeEnds(of group: ArraySlice<JobID>) {
        for id in group {
            guard let job = jobs[id], case .settled(let conclusion) = job.machine.state else { continue }
            do {
                let folder: ArchiveFolder = conclusion.state == .done ? .done : .failed
                let needsResult = job.needsResult(conclusion)
                let place =
                    try job.place ?? spool.place(for: job.claimed.name, in: folder, at: .now, withResult: needsResult)
                job.place = place
                if job.resumption?.final == nil { recordEnd(of: job, conclusion, at: place) }
                writer.appendJob(job.report(conclusion, app: name), to: &lines)
                finishing.append(id)
            } catch {
                concluded.append(id)
                space.note(failure: error)
                logger.error("archive cannot be used", metadata: [LogKey.id: "\(id)", LogKey.error: "\(error)"])
            }
        }
    }

    private func recordEnd(of job: ActiveJob, _ conclusion: SpoolModel.Conclusion, at place: ArchivePlace) {
        var final = JournalFinal(
            conclusion, day: place.day, name: place.name, finishedAt: job.finishedAt ?? job.claimedAt)
        final.why = job.fault
        final.earlier = job.earlier
        journal.record(.final(job.claimed.id, final))
    }

    /// Publishes lines and archives jobs, until the task is cancelled.
    func runPublication() async {
        while !Task.isCancelled {
            let due = lastPublication + around.configuration.feedbackEvery
            if lines.isEmpty, published.isEmpty, concluded.isEmpty, parking.isEmpty, withdrawals.isEmpty {
                if archived.isEmpty { await publishBell.wait() } else { await waitToClean() }
            } else if Moment.now < due {
                await publishBell.wait(until: due.instant)
            } else {
                await publishLines()
                await space.makeRoom()
            }
        }
    }

    /// Publishes what there is in one file, then archives the jobs that are over by it.
    ///
    /// A line is published only when the outcome that it tells cannot be lost any more; else the next start would send
    /// again what somebody has read to be over. For the same reason the job's ref is kept before.
    ///
    /// - Returns: Whether all lines are out that there were at the call; `false` as well when another publication was under way,
    ///   which is waited for and may not have all of them.
    @discardableResult
    func publishLines() async -> Bool {
        if isPublishing {
            await withCheckedContinuation { awaitingPublication.append($0) }
            return false
        }
        isPublishing = true
        defer {
            (isPublishing, publishingByteCount) = (false, 0)
            for bell in pumpBells + [roomBell] { bell.ring() }
            for waiter in awaitingPublication { waiter.resume() }
            awaitingPublication = []
        }
        lastPublication = .now
        await writeConcluded()
        // Whose lines are among those that are published now, or before.
        let (held, ended) = (parking, withdrawals)
        if !lines.isEmpty {
            // Whether everything up to now is among the lines holds for these, not for what is read meanwhile.
            var (taken, over, last) = (lines, finishing, journal.lastRecord)
            // What an earlier run has left is out when all of it is.
            let since = isRetelling ? firstTold : nil
            (lines, finishing, publishingByteCount) = ([], [], taken.count)
            guard await journal.sync(), duplicates.keep(over.compactMap { jobs[$0] }),
                publish(taken, since: since, through: last)
            else {
                // Nothing is copied if nothing came meanwhile: this may happen again and again.
                taken += lines
                (lines, finishing) = (taken, over + finishing)
                publishBell.ring()  // While they were away, there seemed to be none to try again with.
                return false
            }
            room.note(tooManyLines: false)
            for id in over { handle(.published, id) }
            published += over
        }
        await archivePublished()
        parkHeld(held)
        carryOutWithdrawals(ended)
        journal.write()
        intakeBell.ring()
        return true
    }

    private func publish(_ taken: [UInt8], since first: JournalPosition?, through last: JournalPosition?) -> Bool {
        do {
            let file = try context.folder.publish(taken, at: .now)
            hook.note(file)
            if let last {
                journal.record(.published(JournalPublication(app: name, feedback: file, through: last, since: first)))
            }
            journal.write()
            return true
        } catch {
            space.note(failure: error)
            logger.error("feedback cannot be written", metadata: [LogKey.error: "\(error)"])
            return false
        }
    }

    /// How many bytes of lines are not out, those included that are being published.
    var unpublishedByteCount: Int { lines.count + publishingByteCount }

    /// Whether so many lines are not out that nothing may be read or recorded that makes more.
    var hasTooManyLines: Bool { unpublishedByteCount >= 2 * Self.lineLimit }

    /// Whether lines of an earlier run are still to be told.
    var isRetelling: Bool {
        left.values.contains { !$0.untold.isEmpty } || leftJobs.contains(where: \.hasUntold)
            || takingUp.contains(where: \.hasUntold)
            || jobs.values.contains { $0.source != nil && $0.resumption.map { !$0.untold.isEmpty } == true }
    }

    private func archivePublished() async {
        let waiting = published
        published = []
        await inGroups(waiting) { group in
            let drafts = group.compactMap(resultDraft)
            do {
                for draft in drafts { try await files.archives.stage(draft, in: spool.work) }
                let results = Dictionary(uniqueKeysWithValues: drafts.map { ($0.id, $0.bytes) })
                spool.keepingDaysOpen { archive(group, results) }
            } catch {
                published += group
                space.note(failure: error)
                logger.error("result files cannot be written", metadata: [LogKey.error: "\(error)"])
            }
        }
    }

    /// How many jobs are dealt with before other apps have their turn.
    private static let groupLimit = 64

    /// Deals with many jobs in groups, and lets other apps go on behind each.
    private func inGroups(_ ids: [JobID], _ body: (ArraySlice<JobID>) async -> Void) async {
        for start in stride(from: 0, to: ids.count, by: Self.groupLimit) {
            if start > 0 { await files.worker.yield() }
            await body(ids[start..<min(start + Self.groupLimit, ids.count)])
        }
    }

    private func resultDraft(of id: JobID) -> ResultDraft? {
        guard let job = jobs[id], case .published(let conclusion) = job.machine.state, job.needsResult(conclusion)
        else {
            return nil
        }
        return ResultDraft(of: id, job.result(conclusion, app: name).bytes)
    }

    private func archive(_ group: ArraySlice<JobID>, _ results: [JobID: [UInt8]]) {
        for id in group {
            guard let job = jobs[id], let place = job.place, case .published(let conclusion) = job.machine.state else {
                continue
            }
            do {
                let final = try spool.archive(job.claimed, at: place, result: results[id], isStaged: true)
                if final != place { recordEnd(of: job, conclusion, at: final) }
                finish(job)
                archived.append(id)
                report(job, conclusion, at: final)
            } catch  where error.isNotFound && hasVanished(job.claimed) {
                finish(job)
                journal.record(.cleaned(id))
                logger.error("job has vanished from work/", metadata: [LogKey.job: "\(job.claimed.name)"])
            } catch {
                published.append(id)
                space.note(failure: error)
                logger.error("job cannot be archived", metadata: [LogKey.id: "\(id)", LogKey.error: "\(error)"])
            }
        }
    }

    private func finish(_ job: ActiveJob) {
        handle(.archived, job.claimed.id)
        jobs[job.claimed.id] = nil
        places.end(job.lane)
        duplicates.endTurn(job.summary)
        recent.add(job.identity)
    }

    // MARK: What the journal may forget

    /// How long moves to the archives may stay unsynced; until they are, the journal remembers the jobs.
    private static let cleaningPause = Duration.seconds(1)

    private func waitToClean() async {
        let due = lastCleaning + Self.cleaningPause
        if Moment.now < due { await publishBell.wait(until: due.instant) }
        if Moment.now >= due { await cleanArchived() }
    }

    /// Makes the moves to the archives so far survive a power loss, and lets the journal forget their jobs.
    func cleanArchived() async {
        lastCleaning = .now
        guard !archived.isEmpty else { return }
        let moved = archived
        archived = []
        await suppression.sync()
        do {
            try await files.archives.sync(spool)
            for id in moved { journal.record(.cleaned(id)) }
            journal.write()
            retention.noteArchived()
            // The journal may have room for others now.
            intakeBell.ring()
        } catch {
            // Final: the journal keeps them, and the next start looks where they are.
            logger.error("archive cannot be synced", metadata: [LogKey.error: "\(error)"])
            space.note(failure: error)
        }
    }

    /// Whether somebody took the job's file away; not if that cannot be told.
    func hasVanished(_ job: ClaimedJob) -> Bool {
        do {
            return try spool.work.status(of: job.entry.bytes) == nil
        } catch {
            return false
        }
    }

    private func report(_ job: ActiveJob, _ conclusion: SpoolModel.Conclusion, at place: ArchivePlace) {
        let (tally, length) = (conclusion.tally, (job.finishedAt ?? job.claimedAt) - job.claimedAt)
        around.meter.count { $0.noteEnd(conclusion, after: length) }
        // What an operator has ended is no news to him.
        let isExpected = conclusion.state == .done || conclusion.code == .cancelled
        let level = isExpected ? Logger.Level.notice : .warning
        guard logger.logLevel <= level else { return }
        // Not interpolated: that costs more than the text.
        var metadata: Logger.Metadata = [
            LogKey.job: .string(job.claimed.name.escaped), LogKey.id: .string(job.claimed.id.description),
            LogKey.path: .string(place.path(of: name)), LogKey.count: .string(String(job.summary.recipientCount)),
            LogKey.accepted: .string(String(tally.accepted)),
        ]
        if tally.rejected > 0 { metadata[LogKey.rejected] = "\(tally.rejected)" }
        let other = tally.expired + tally.unsent + tally.unknown
        if other > 0 { metadata[LogKey.other] = "\(other)" }
        if let code = conclusion.code { metadata[LogKey.code] = "\(code.rawValue)" }
        if let fault = job.summary.fault { metadata[LogKey.error] = "\(fault.sentenceForLog)" }
        if let earlier = job.earlier { metadata[LogKey.error] = "\(earlier.explanation)" }
        logger.log(level: level, conclusion.state == .done ? "job done" : "job failed", metadata: metadata)
    }
}

extension Diagnostic {
    /// The fault in words with long keys and quotations cut: people write tokens where other things belong, and a log holds none.
    var sentenceForLog: String {
        let pieces = message.split(separator: "`", omittingEmptySubsequences: false)
        let words = pieces.enumerated().map { $0 % 2 == 0 ? String($1) : Self.cut($1) }.joined(separator: "`")
        let keys = path.map { $0.split(separator: ".").map(Self.cut).joined(separator: ".") + ": " }
        return (keys ?? "") + words
    }

    private static func cut(_ text: Substring) -> String {
        text.count <= 24 ? String(text) : text.prefix(8) + "…"
    }
}

extension FeedbackFolder {
    /// Says so when a name, in the folder or in the journal, was too far ahead to be followed.
    func reportIgnored(to logger: Logger) {
        guard let ignored else { return }
        let hint: Logger.MetadataValue =
            "see who may write to feedback/, and whether the clock was ahead; remove the file, if it is there"
        logger.warning(
            "feedback's names do not follow one of the future",
            metadata: [LogKey.path: "\(path)/\(ignored)", LogKey.hint: hint])
    }
}
