import Configuration
import JobFormat
import JobOperations
import JournalModel
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SharedResources
import SpoolModel
import SpoolStore

/// Processes an app's `new/`: takes hints, scans, determines which files are complete, reads those, and has them claimed.
final class IntakeLoop {
    /// How many names are listed at a time, which takes milliseconds.
    private static let scanStep = 4_096
    /// How long short files are taken before the long one is checked again.
    private static let shortTurn = Duration.milliseconds(10)

    private let parts: AppParts
    private let context: AppContext
    private let hints: HintBox
    private let reader: JobFileReader
    private let claimer: Claimer
    private let unclaimed: UnclaimedFiles
    private let status: StatusReporter
    /// The scan of `new/` under way, and when the next one begins.
    private var scanning: DirectoryListing?
    private let plan: ScanPlan
    private let files: FilesAhead

    init(
        _ hints: HintBox, _ reader: JobFileReader, _ claimer: Claimer, _ status: StatusReporter
    ) {
        (self.hints, self.reader, self.claimer, self.status) = (hints, reader, claimer, status)
        (parts, unclaimed) = (claimer.parts, claimer.unclaimed)
        context = parts.context
        (plan, files) = (ScanPlan(parts), FilesAhead(parts.intake, parts.held, in: context.spool))
    }

    /// Sets whether the watch covers this app. If not, the app is polled.
    func setWatched(_ isWatched: Bool) {
        guard isWatched != plan.isWatched else { return }
        plan.isWatched = isWatched
        scanSoon()
    }

    /// Whether a scan is due. Periodic checks are made at the same time.
    var isScanDue: Bool { plan.isDue }

    private func scanSoon() {
        plan.next = .zero
        parts.intakeWakeup.signal()
    }

    /// Takes the files that are ready: scans `new/` if that is due, then looks, reads and claims.
    func takeReady() async {
        await beginScanIfDue()
        unclaimed.checkMistaken()
        while let action = parts.intake.value.next(at: .now, taking: claimer.openLanes, longest: claimer.longestClaim) {
            await perform(action)
            if claimer.announcedCount >= Claimer.groupLimit {
                await claimer.startClaims()
                files.endRound()
                goOnScanning()
            }
            if unclaimed.refusedCount >= Claimer.groupLimit { await unclaimed.carryOut() }
            await context.files.worker.yield()
        }
        files.endRound()
        claimer.noteRoom()
        status.reportWaits()
        if claimer.announcedCount > 0 { await claimer.startClaims() }
        await unclaimed.carryOut()
    }

    /// Takes the reports of the watch.
    func takeHints() {
        context.daemon.clock.look()
        let content = hints.take()
        for hint in content.hints where plan.heeds(hint.name) {
            parts.intake.value.hint(hint.hint, hint.name, at: hint.time)
        }
        if content.wantsScan { plan.next = .zero }
        for name in parts.duplicates.takeFreed() { parts.intake.value.resume(name, at: .now) }
        if parts.intake.value.nextTime != nil { parts.intake.value.noteTime(.now, at: .now) }
    }

    /// Does other work while a long file is read on its own thread, so that short files do not wait for it.
    func goOnBesideReading() async {
        claimer.noteRoom()
        status.update()
        await takeShortFiles()
    }

    /// Takes short files, one group at a time, so that the long file can finish. Takes none while a suspect file is read alone.
    private func takeShortFiles() async {
        guard reader.count == 1, parts.state.isOpen, !reader.isReadingAlone else { return }
        reader.isBeside = true
        defer { reader.isBeside = false }
        takeHints()
        await beginScanIfDue()
        let end = Moment.now + Self.shortTurn
        var count = 0
        while count < Claimer.groupLimit, Moment.now < end,
            let action = parts.intake.value.next(
                at: .now, taking: claimer.openLanes,
                longest: min(Int64(JournalHeader.byteLimit), claimer.longestClaim))
        {
            await perform(action)
            await context.files.worker.yield()
            count += 1
        }
        files.endRound()
        await claimer.startClaims()
        await unclaimed.carryOut()
    }

    /// The latest time of the next step.
    var nextLook: Moment {
        if parts.intake.value.wantsScan || scanning != nil { return .now }
        var next = parts.space.isShort ? parts.space.nextLook : plan.next
        if parts.space.shortUntil > .now { next = min(next, parts.space.shortUntil) }
        if let deadline = parts.intake.value.deadline { next = min(next, deadline) }
        // The wall clock may be set, so it is checked at least with each scan.
        if let time = parts.intake.value.nextTime {
            next = min(next, .now + max(.milliseconds(1), time - WallTime.now))
        }
        return next
    }

    /// Begins or continues a scan of `new/`, since hints may be lost. In a long scan, the first files are already taken.
    private func beginScanIfDue() async {
        guard scanning == nil else { return goOnScanning() }
        guard plan.isDue || parts.intake.value.wantsScan else { return }
        plan.begin()
        // The next scan is also the time for other checks.
        if context.daemon.isStandIn { return }
        parts.intake.value.beginScan()
        do {
            scanning = try context.spool.new.listing()
        } catch {
            return context.logger.error("scan failed", metadata: [LogKey.error: "\(error)"])
        }
        // The names to which the intake can pay attention are taken in the order of their times.
        for _ in 0..<parts.intake.value.rules.attention / Self.scanStep {
            goOnScanning()
            guard scanning != nil else { return }
            await context.files.worker.yield()
        }
    }

    /// Lists more names, if a scan is under way.
    private func goOnScanning() {
        guard scanning != nil else { return }
        do {
            for _ in 0..<Self.scanStep {
                guard let entry = try scanning?.next() else {
                    scanning = nil
                    parts.intake.value.endScan()
                    plan.end()
                    unclaimed.reportIgnored()
                    return
                }
                if let name = FileName(bytes: entry.name), plan.takesListed(name) {
                    parts.intake.value.listed(name, at: .now)
                }
            }
        } catch {
            scanning = nil
            context.logger.error("scan failed", metadata: [LogKey.error: "\(error)"])
        }
    }

    private func perform(_ action: IntakeAction) async {
        switch action {
        case .look(let name): look(name)
        case .open(let name, let isPublished):
            await reader.counting { await open(name, isPublishedByRename: isPublished) }
        case .fail(let name, let code):
            if isBeingWritten(name) {
                parts.intake.value.answer(name, .busy, at: .now)
            } else {
                unclaimed.refuse(name, code, why: nil)
            }
        case .moveAsItIs(let name): unclaimed.refuse(name, .unreadable, why: "not a regular file; it was not opened")
        case .warnStuck(let name):
            let hint: Logger.MetadataValue =
                "check that new/ and work/ are folders of the daemon's user, and owner and mode of the file"
            context.logger.warning("job cannot be claimed", metadata: [LogKey.job: "\(name)", LogKey.hint: hint])
        case .warnUnmarked(let name): unclaimed.warnUnmarked(name)
        case .noteOverwritten(let name):
            context.daemon.meter.count { $0.noteOverwritten() }
            let hint: Logger.MetadataValue = "give every job a unique name"
            context.logger.warning(
                "job overwritten by its producer", metadata: [LogKey.job: "\(name)", LogKey.hint: hint])
        }
    }

    /// Whether a process on this host has the file open for writing, as far as can be determined. The file does not fail then.
    private func isBeingWritten(_ name: FileName) -> Bool {
        guard context.spool.isNotifying else { return false }
        do {
            guard case .opened(let job) = try context.spool.open(name) else { return false }
            defer { job.file.dropReadLease() }
            return job.file.takeReadLease() == .writerHasIt
        } catch {
            // Without a descriptor the file cannot be examined, which must not make it fail.
            return parts.space.pauseIfShort(error)
        }
    }

    private func look(_ name: FileName) {
        do {
            guard let file = try files.look(name) else {
                return parts.intake.value.answer(name, .gone, at: .now)
            }
            let sighting = file.sighting
            parts.intake.value.sighted(name, sighting, unchangedFor: age(of: sighting), at: .now)
        } catch {
            unclaimed.noteStuck(name, error)
        }
    }

    /// For how long a file has been unchanged, according to its ctime; 0 if another machine's clock sets that.
    private func age(of sighting: IntakeSighting) -> Duration {
        guard context.spool.isNotifying else { return .zero }
        let changedAt = sighting.identity.changedAt
        // Some filesystems, such as vfat, store every other second only.
        let grain = changedAt.nanoseconds % 1_000_000_000 == 0 ? Duration.seconds(2) : .zero
        return max(.zero, Moment.now - context.daemon.clock.look().moment(of: changedAt) - grain)
    }

    /// Opens a file, reads it completely, and claims it if it is complete.
    private func open(_ name: FileName, isPublishedByRename: Bool) async {
        do {
            let room = Claimer.groupLimit - claimer.announcedCount
            let (opening, isFresh) = try files.open(
                name, with: room, in: claimer.openLanes, upTo: claimer.longestClaim)
            switch opening {
            case .gone: parts.intake.value.answer(name, .gone, at: .now)
            case .busy: parts.intake.value.answer(name, .busy, at: .now)
            case .unreadable: parts.intake.value.answer(name, .unreadable, at: .now)
            case .special: unclaimed.refuse(name, .unreadable, why: "not a regular file; it was not opened")
            case .opened(let job): try await consider(job, isPublishedByRename, isFresh: isFresh)
            }
        } catch {
            unclaimed.noteStuck(name, error)
        }
    }

    private func consider(_ job: OpenJob, _ isPublishedByRename: Bool, isFresh: Bool) async throws(SystemError) {
        // The file was written to or replaced since it was looked at, so the earlier verdict is void.
        let before = parts.intake.value.sighting(of: job.name)
        guard before?.isUnwritten(in: IntakeSighting(job.status)) == true else {
            return parts.intake.value.answer(job.name, .busy, at: .now)
        }
        if context.spool.isNotifying, job.file.takeReadLease() == .writerHasIt {
            return parts.intake.value.answer(job.name, .busy, at: .now)
        }
        var mustKeepLease = false
        defer { if !mustKeepLease { job.file.dropReadLease() } }
        guard isReadable(job) else { return unclaimed.refuse(job.name, .invalid, why: JobSource.tooLong) }
        if job.status.byteCount > Int64(JournalHeader.byteLimit) {
            job.file.dropReadLease()
            // Small jobs do not wait until a large one has been read.
            await claimer.startClaims()
        }
        let remainder = try parts.held.remainder(of: job.status, isFresh: isFresh)
        // A file that was held or sent before was complete.
        let isWhole = isPublishedByRename || remainder != nil
        let terms = reader.context(of: job, remainder, isPublishedByRename: isWhole)
        let result = try await reader.readThrough(job, job.status, terms)
        // A stop that began meanwhile does not wait for an unclaimed file.
        guard case .read(let opened) = result, !context.lifecycle.isDraining else {
            return leave(job, after: result)
        }
        var hasHeader = false
        defer { if !hasHeader { parts.journal.record(.ended(opened.subject)) } }
        let isKnownComplete = isWhole || opened.reading.summary.isSealed || job.name.form == .json
        let read = ReadJob(context: terms, opened, isKnownComplete: isKnownComplete)
        (read.remainder, read.isSentAnyway) = (remainder, remainder?.isSentAnyway == true)
        guard try mayClaim(read, job), claimer.announce(job, read) else { return }
        // The header of a job that was sent before repeats an earlier one. No process may write to the file until it is claimed.
        (hasHeader, mustKeepLease) = (remainder?.sent == nil, true)
        // A large document is claimed at once, because it occupies memory.
        if read.source.heldByteCount > 1 << 20 { await claimer.startClaims() }
    }

    /// Decides whether a file that was read may be claimed: it is complete, due, and not a duplicate. If not, reports
    /// that to the intake.
    private func mayClaim(_ read: ReadJob, _ job: OpenJob) throws(SystemError) -> Bool {
        guard isFit(read, job) else { return false }
        switch parts.intake.value.read(job.name, IntakeReading(read.summary, at: .now), at: .now) {
        case .wait: return false
        case .postpone(let until):
            reportPostponed(job.name, until)
            return false
        case .claim: break
        case .fail(let code): read.summary.fail(code)
        }
        let isUnknown = parts.toRecover.isAny(whichMayBe: job.name, read.summary)
        let answer: IntakeAnswer? =
            parts.toRecover.isMissing(job) ? .busy : try parts.duplicates.admit(read, job.name, isUnknown: isUnknown)
        if let answer { parts.intake.value.answer(job.name, answer, at: .now) }
        return answer == nil
    }

    /// Handles a file that is not claimed: it stays in `new/`, or moves to `hold/`.
    private func leave(_ job: OpenJob, after result: ReadingResult) {
        if case .poison = result { return unclaimed.holdPoison(job) }
        if case .read(let file) = result { parts.journal.record(.ended(file.subject)) }
        parts.intake.value.answer(job.name, .busy, at: .now)
    }

    /// Whether the journal can record the checksums of a file of this length. Documents have a limit of their own.
    private func isReadable(_ job: OpenJob) -> Bool {
        job.name.form != .lines
            || context.daemon.journal.canHold(checkCount: JournalHeader.checkCount(of: job.status.byteCount))
    }

    /// Whether the recipient count is unchanged and the file, which may have grown, fits the journal; else holds or fails it.
    private func isFit(_ read: ReadJob, _ job: OpenJob) -> Bool {
        guard read.remainder?.sent?.count ?? read.summary.recipientCount == read.summary.recipientCount else {
            unclaimed.holdChanged(job)
            return false
        }
        guard case .checks(let checks) = read.content, !context.daemon.journal.canHold(checkCount: checks.count) else {
            return true
        }
        unclaimed.refuse(job.name, .invalid, why: JobSource.tooLong)
        return false
    }

    private func reportPostponed(_ name: FileName, _ until: WallTime) {
        context.logger.info(
            "job waits until its not_before time", metadata: [LogKey.job: "\(name)", LogKey.until: "\(until.rfc3339)"])
    }
}
