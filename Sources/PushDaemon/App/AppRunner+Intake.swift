import APNSBinary
import APNSGateway
import APNSModel
import Document
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

extension AppRunner {
    /// Takes jobs as they become ready, until the task is cancelled.
    ///
    /// What there is nothing to do for is not even called: the task keeps the room for its frame from then on.
    func runIntake() async {
        while !Task.isCancelled {
            takeHints()
            await space.look()
            await lookAtPause()
            await prepareToAsk()
            if Moment.now >= nextFinding, !left.isEmpty || !hasLookedIntoWork { findMissingJobs() }
            if !leftJobs.isEmpty { await recoverJobs() }
            await beginScanIfDue()
            while let action = intake.next(at: .now, taking: openLanes, longest: longestClaim) {
                await perform(action)
                if claims.count >= Self.claimGroupLimit {
                    await startClaims()
                    goOnScanning()
                }
                if refusals.count >= Self.claimGroupLimit { await carryOutRefusals() }
                await files.worker.yield()
            }
            noteClaimRoom()
            tellWaits()
            if !claims.isEmpty { await startClaims() }
            if !refusals.isEmpty { await carryOutRefusals() }
            if !jobs.isEmpty {
                await giveUpLateJobs()
                await giveBackUnsentJobs()
            }
            if retention.isDue, !journal.isBroken { await retention.goOn() }
            if suppression.wantsRewriting, !journal.isBroken { await suppression.rewriteOn() }
            if !holdings.isEmpty { await proceedWithHolds() }
            if !endings.isEmpty { await proceedWithEndings() }
            journal.write()
            lookAtProgress()
            show()
            await intakeBell.wait(until: nextLook.instant)
        }
    }

    private func takeHints() {
        around.clock.look()
        let content = hints.take()
        for hint in content.hints { intake.hint(hint.hint, hint.name, at: hint.time) }
        if content.wantsScan { nextScan = .zero }
        for name in duplicates.takeFreed() { intake.resume(name, at: .now) }
        if intake.nextTime != nil { intake.noteTime(.now, at: .now) }
    }

    /// Does what is to be done while a long file is read on its own thread: short files do not wait for it.
    func goOnBesideReading() async {
        lookAtProgress()
        noteClaimRoom()
        tellWaits()
        show()
        await takeShortFiles()
    }

    /// How long short files are taken before the long one is looked at again.
    private static let shortTurn = Duration.milliseconds(10)

    /// Takes what is short, a group at a time, so that the long file comes to its end. Not while that is read alone.
    private func takeShortFiles() async {
        guard takingCount == 1, standing.phase == .open, !isReadingAlone else { return }
        isBesideReading = true
        defer { isBesideReading = false }
        takeHints()
        await beginScanIfDue()
        let end = Moment.now + Self.shortTurn
        var count = 0
        while count < Self.claimGroupLimit, Moment.now < end,
            let action = intake.next(
                at: .now, taking: openLanes, longest: min(Int64(JournalHeader.byteLimit), longestClaim))
        {
            await perform(action)
            await files.worker.yield()
            count += 1
        }
        await startClaims()
        await carryOutRefusals()
    }

    /// The lanes of which another job may be taken.
    var openLanes: LaneSet {
        guard !space.isShort, mayTake else { return [] }
        return LaneSet { hasPlace(for: $0) }
    }

    /// Whether a job of an earlier run may be taken up. The journal has it already, however full it is: only when its lines
    /// are out can it be carried forward, and make room.
    func mayRecover(_ lane: Lane) -> Bool { mayTake && hasPlace(for: lane) }

    private var mayTake: Bool {
        hasLookedIntoWork && !isDraining && !journal.isBroken && pausedAt == nil && space.shortUntil <= .now
            && (standing.phase == .open || mayAsk && claims.isEmpty)
            && unpublishedByteCount < Self.lineLimit
    }

    private func hasPlace(for lane: Lane) -> Bool {
        places.hasRoom(for: lane, pending: claims.count + claimingCount) && around.descriptors.mayRead(lane)
    }

    private var nextLook: Moment {
        if intake.wantsScan || scanning != nil
            || (retention.isUnderWay || suppression.wantsRewriting) && !journal.isBroken
        {
            return .now
        }
        var next = space.isShort ? space.nextLook : nextScan
        if space.shortUntil > .now { next = min(next, space.shortUntil) }
        if !left.isEmpty || !hasLookedIntoWork { next = min(next, nextFinding) }
        if let nextNews = room.nextNews { next = min(next, nextNews) }
        if let deadline = intake.deadline { next = min(next, deadline) }
        // The clock of users may jump: what it says is looked at with every scan, at the latest.
        if let time = intake.nextTime { next = min(next, .now + max(.milliseconds(1), time - WallTime.now)) }
        // A job of which much is left to be read or answered.
        if !jobs.isEmpty { next = min(next, nextProgressLook) }
        if let nextGiveUp { next = min(next, max(.now + .milliseconds(500), nextGiveUp)) }
        return next
    }

    /// How many names are listed in one go, which takes milliseconds.
    private static let scanStep = 4_096

    /// Begins to list `new/`, or goes on with it: hints are only hints. Of many files the first are taken meanwhile.
    private func beginScanIfDue() async {
        guard scanning == nil else { return goOnScanning() }
        guard Moment.now >= nextScan || intake.wantsScan else { return }
        let interval =
            spool.isNotifying && isWatched ? around.configuration.rescan : min(.seconds(2), around.configuration.rescan)
        // All apps at once: each alone would wake threads from their sleep.
        nextScan = (.now + interval).roundedDown(toMultipleOf: interval / 2)
        intake.beginScan()
        do {
            scanning = try spool.new.listing()
        } catch {
            return logger.error("scan failed", metadata: [LogKey.error: "\(error)"])
        }
        // As many names as the intake attends to are taken in the order of their times.
        for _ in 0..<intake.rules.attention / Self.scanStep {
            goOnScanning()
            guard scanning != nil else { return }
            await files.worker.yield()
        }
    }

    /// Lists some more names, if a scan is under way.
    private func goOnScanning() {
        guard scanning != nil else { return }
        do {
            for _ in 0..<Self.scanStep {
                guard let entry = try scanning?.next() else {
                    scanning = nil
                    intake.endScan()
                    reportIgnored()
                    if seen.count > 2 * intake.count { seen = [:] }
                    return
                }
                if let name = FileName(bytes: entry.name) { intake.listed(name, at: .now) }
            }
        } catch {
            scanning = nil
            logger.error("scan failed", metadata: [LogKey.error: "\(error)"])
        }
    }

    private func perform(_ action: IntakeAction) async {
        switch action {
        case .look(let name): look(name)
        case .take(let name, let isPublished): await take(name, isPublishedByRename: isPublished)
        case .fail(let name, let code):
            if isBeingWritten(name) { intake.answer(name, .busy, at: .now) } else { refuse(name, code, why: nil) }
        case .moveAsItIs(let name): refuse(name, .unreadable, why: "not a regular file; it was not opened")
        case .warnStuck(let name):
            let hint: Logger.MetadataValue = "check owner and mode of the file and of new/"
            logger.warning("job cannot be taken", metadata: [LogKey.job: "\(name)", LogKey.hint: hint])
        case .noteOverwritten(let name):
            around.meter.count { $0.noteOverwritten() }
            let hint: Logger.MetadataValue = "give every job a name of its own"
            logger.warning("job overwritten by its producer", metadata: [LogKey.job: "\(name)", LogKey.hint: hint])
        }
    }

    /// Whether somebody on this host has the file open for writing, as far as can be told: then it is not too late.
    private func isBeingWritten(_ name: FileName) -> Bool {
        guard spool.isNotifying else { return false }
        do {
            guard case .opened(let job) = try spool.open(name) else { return false }
            defer { job.file.dropReadLease() }
            return job.file.takeReadLease() == .writerHasIt
        } catch {
            // Without a descriptor nothing is known of the file: it must not fail for that.
            return space.pauseIfShort(error)
        }
    }

    private func look(_ name: FileName) {
        do {
            guard let file = try spool.look(name) else { return intake.answer(name, .gone, at: .now) }
            intake.sighted(name, file.sighting, at: .now)
            if intake.isAttending(to: name) { seen[name] = file.status }
        } catch {
            answerStuck(name, error)
        }
    }

    /// Opens a file, reads it to its end, and claims it if it is whole.
    private func take(_ name: FileName, isPublishedByRename: Bool) async {
        takingCount += 1
        defer { takingCount -= 1 }
        do {
            switch try spool.open(name) {
            case .gone: intake.answer(name, .gone, at: .now)
            case .busy: intake.answer(name, .busy, at: .now)
            case .unreadable: intake.answer(name, .unreadable, at: .now)
            case .special: refuse(name, .unreadable, why: "not a regular file; it was not opened")
            case .opened(let job):
                // Written to or replaced since it was looked at: what was judged of it holds no more.
                guard let before = seen.removeValue(forKey: name), before.isUnwritten(in: job.status) else {
                    return intake.answer(name, .busy, at: .now)
                }
                try await consider(job, isPublishedByRename)
            }
        } catch {
            answerStuck(name, error)
        }
    }

    private func consider(_ job: OpenJob, _ isPublishedByRename: Bool) async throws(SystemError) {
        if spool.isNotifying, job.file.takeReadLease() == .writerHasIt {
            return intake.answer(job.name, .busy, at: .now)
        }
        var mustKeepLease = false
        defer { if !mustKeepLease { job.file.dropReadLease() } }
        guard isReadable(job) else { return refuse(job.name, .invalid, why: JobSource.tooLong) }
        if job.status.byteCount > Int64(JournalHeader.byteLimit) {
            job.file.dropReadLease()
            // Small jobs do not wait until a large one is read.
            await startClaims()
        }
        let rest = try desk.rest(of: job.status)
        // What was parked or sent before was whole.
        let isWhole = isPublishedByRename || rest != nil
        let context = context(of: job, rest, isPublishedByRename: isWhole)
        let perusal = try await readThrough(job, job.status, context)
        // A stop that came meanwhile does not wait for what nobody has claimed.
        guard case .read(let opened) = perusal, !isDraining else { return leave(job, after: perusal) }
        var read = ReadJob(context: context, opened, isSealed: true)
        read.isSealed = isWhole || read.summary.isSealed || job.name.form == .json
        (read.rest, read.isSentAnyway) = (rest, rest?.isSentAnyway == true)
        guard isFit(read, job) else { return }
        switch intake.read(job.name, IntakeReading(read.summary, at: .now), at: .now) {
        case .wait: return
        case .postpone(let until): return reportPostponed(job.name, until)
        case .claim: break
        case .fail(let code): read.summary.fail(code)
        }
        guard !isMissing(job) else { return intake.answer(job.name, .busy, at: .now) }
        switch try duplicates.admit(&read, job.name, isUnknown: isAnyLeft(whichMayBe: job.name, read.summary)) {
        case .admitted: break
        case .later(let isRemembered): return intake.answer(job.name, isRemembered ? .deferred : .busy, at: .now)
        }
        announce(job, read)
        // Nobody is to write to it between now and the claim.
        mustKeepLease = true
        // A large document does not wait for others while it fills memory.
        if read.source.heldByteCount > 1 << 20 { await startClaims() }
    }

    /// Whether reading a file can come to an end that the journal can record. A document has a limit of its own.
    private func isReadable(_ job: OpenJob) -> Bool {
        job.name.form != .lines
            || around.journal.canHold(checkCount: JournalHeader.checkCount(of: job.status.byteCount))
    }

    /// Whether what was read is what was parked, and can be recorded: the file may have grown. If not, it is parked or refused.
    private func isFit(_ read: ReadJob, _ job: OpenJob) -> Bool {
        guard read.rest?.sent?.count ?? read.summary.recipientCount == read.summary.recipientCount else {
            holdChanged(job)
            return false
        }
        guard case .checks(let checks) = read.content, !around.journal.canHold(checkCount: checks.count) else {
            return true
        }
        refuse(job.name, .invalid, why: JobSource.tooLong)
        return false
    }

    private func reportPostponed(_ name: FileName, _ until: WallTime) {
        logger.info("job waits until its time", metadata: [LogKey.job: "\(name)", LogKey.until: "\(until.rfc3339)"])
    }

    /// How many files are reported one by one after a scan.
    private static let ignoredLimit = 20

    /// Reports files that are never taken.
    private func reportIgnored() {
        let names = intake.takeIgnored()
        for name in names.prefix(Self.ignoredLimit) {
            logger.warning(
                "file in new/ is ignored: its name is no job's",
                metadata: [LogKey.job: "\(name)", LogKey.hint: "\(name.remedy)"])
        }
        guard names.count > Self.ignoredLimit else { return }
        let hint: Logger.MetadataValue = "the doctor names some of them"
        logger.warning(
            "more files in new/ are ignored",
            metadata: [LogKey.files: "\(names.count - Self.ignoredLimit)", LogKey.hint: hint])
    }

    func answerStuck(_ name: FileName, _ error: SystemError) {
        journal.stopIfSyncFailed(error)
        if space.pauseIfShort(error) { return intake.answer(name, .busy, at: .now) }
        logger.error("job cannot be read", metadata: [LogKey.job: "\(name)", LogKey.error: "\(error)"])
        intake.answer(name, .stuck, at: .now)
    }
}

extension FileStatus {
    /// Whether a later status is of the same file with the same bytes, as far as a status tells.
    func isUnwritten(in later: FileStatus) -> Bool {
        isSameFile(as: later) && byteCount == later.byteCount && modifiedAt == later.modifiedAt
    }
}
