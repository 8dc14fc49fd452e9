import APNSGateway
import APNSModel
import Document
import LinuxIO
import Logging
import OpenSSL
import SpoolModel
import SpoolStore

/// A job whose file was read to its end.
struct OpenedJob {
    /// Hands out the recipients.
    let source: JobSource
    /// What the file says and has.
    let summary: JobSummary
    /// What the journal keeps to know the bytes again.
    let content: JournalHeader.Content

    init(_ reading: JobSource.Reading) throws(SystemError) {
        source = try JobSource(reading)
        summary = reading.summary
        content = reading.content
    }
}

/// A job that was read to its end and not yet claimed.
struct ReadJob {
    let context: JobContext
    let source: JobSource
    var summary: JobSummary
    let content: JournalHeader.Content
    var isSealed: Bool
    /// The job that it is a duplicate of, if it is one.
    var earlier: EarlierJob?
    /// What was left of it when it was parked, or was over.
    var rest: Rest?
    /// Whether it is sent whatever was sent before that is the same: a part of it was, or an operator wants it to be.
    var isSentAnyway = false

    init(context: JobContext, _ opened: OpenedJob, isSealed: Bool) {
        self.context = context
        self.source = opened.source
        self.summary = opened.summary
        self.content = opened.content
        self.isSealed = isSealed
    }
}

extension JobID {
    /// A new name for a job.
    static func random() -> JobID {
        JobID(bits: RandomBytes.make(count: 16).reduce(0) { $0 << 8 | UInt128($1) })
    }
}

/// What came of reading a file.
enum Perusal {
    /// It was read to its end.
    case read(OpenedJob)
    /// The daemon has died over it too often, the last time alone: it is not opened again.
    case poison
    /// The app ends, or another file is to be read first: it was not read to its end.
    case abandoned
}

extension AppRunner {
    /// What reading a job needs to know. "The drop" is the file's change time, but never in the future.
    func context(of job: OpenJob, id: JobID, _ isPublishedByRename: Bool) -> JobContext {
        let droppedAt = WallTime(nanoseconds: job.status.changedAt)
        var context = JobContext(job: id, droppedAt: droppedAt, carrier: app.carrier, topic: identity.topic)
        context.noteDrop(at: droppedAt, now: .now, by: around.clock.look())
        context.identity = identity.proof
        context.onDoubt = app.onDoubt
        context.limits = around.configuration.limits
        context.isPublishedByRename = isPublishedByRename
        context.lane = job.name.lane
        context.isComparedByFile = around.configuration.comparesFiles
        return context
    }

    /// The same of a job that was parked, or is tried again: it keeps its id and the time of its drop.
    func context(of job: OpenJob, _ rest: Rest?, isPublishedByRename: Bool) -> JobContext {
        var context = context(of: job, id: rest?.sent?.id ?? .random(), isPublishedByRename)
        if let droppedAt = rest?.droppedAt ?? intake.dropTime(of: job.name) {
            context.noteDrop(at: droppedAt, now: .now, by: around.clock.look())
        }
        return context
    }

    /// Reads a file once to its end; the journal knows about it meanwhile, should the daemon die over it.
    ///
    /// - Parameters:
    ///   - job: The file.
    ///   - status: How it looked when it was found.
    ///   - context: What reading it needs to know.
    ///   - isLimited: Whether it may take only so long; a job that was claimed before has passed that.
    /// - Returns: What came of it.
    /// - Throws: `SystemError` when reading fails: the file cannot be judged.
    func readThrough(
        _ job: OpenJob, _ status: FileStatus, _ context: JobContext, isLimited: Bool = true
    ) async throws(SystemError) -> Perusal {
        var subject = JournalSubject(app: name, name: job.name)
        (subject.device, subject.inode) = (status.device, status.inode)
        subject.changedAt = WallTime(nanoseconds: status.changedAt)
        let suspicion = acquitted.contains(subject) ? nil : around.spool.replay.suspects[subject]
        if suspicion?.judgement == .hold { return .poison }
        let isSuspect = suspicion != nil
        if isSuspect {
            // It would wait for the long file of this app, beside which it is taken: it is read in its turn.
            guard !isBesideReading else { return .abandoned }
            logger.warning(
                "job is read alone: the daemon died while it was read", metadata: [LogKey.job: "\(job.name)"])
        }
        guard await around.reading.enter(alone: isSuspect, deathCount: suspicion?.deathCount ?? 0) else {
            return .abandoned
        }
        if isSuspect { isReadingAlone = true }
        journal.record(.start(subject))
        journal.write()
        let outcome: Result<JobSource.Reading?, SystemError>
        do {
            outcome = .success(try await peruse(job, context, isLimited: isLimited))
        } catch {
            outcome = .failure(error)
        }
        // Written with what comes next, at the latest before the app waits for something: a death that comes later is not
        // its fault.
        journal.record(.ended(subject))
        if isSuspect {
            isReadingAlone = false
            acquitted.insert(subject)
        }
        around.reading.leave(alone: isSuspect)
        guard let reading = try outcome.get() else { return .abandoned }
        return .read(try OpenedJob(reading))
    }

    /// Does with a file in `new/` what is to be done when it is not claimed: it stays there, or is parked.
    func leave(_ job: OpenJob, after perusal: Perusal) {
        if case .poison = perusal { holdPoison(job) } else { intake.answer(job.name, .busy, at: .now) }
    }

    /// How long this thread reads a file itself, in processor time. Usual short files take a millisecond.
    private static let patience = Duration.milliseconds(25)

    /// Reads a short file here, and one that is long or takes long on a thread of its own.
    ///
    /// - Returns: `nil` if the app ends before that.
    private func peruse(
        _ job: OpenJob, _ context: JobContext, isLimited: Bool
    ) async throws(SystemError) -> JobSource.Reading? {
        if job.status.byteCount <= Int64(JournalHeader.byteLimit), let reading = try readHere(job, context) {
            return reading
        }
        let reading = try LongReading(job, context, isLimited: isLimited, on: around.reactor)
        while !isDraining, !lifecycle.isEnding, !Task.isCancelled {
            if let outcome = reading.take() { return try outcome.get() }
            await goOnBesideReading()
            await reading.wait()
        }
        await reading.abandon()
        return nil
    }

    /// Reads a file on this thread, which others use; `nil` if that takes too long, or it has grown and is a long one.
    private func readHere(_ job: OpenJob, _ context: JobContext) throws(SystemError) -> JobSource.Reading? {
        let isLate = StopFlag()
        let start = ThreadClock.nanoseconds()
        let budget = ReadingBudget.unlimited.unless {
            if Duration.nanoseconds(ThreadClock.nanoseconds() - start) > Self.patience { isLate.set() }
            return isLate.isSet
        }
        let reading = try JobSource.read(job, context, within: budget)
        if case .checks = reading.content { return nil }
        return isLate.isSet ? nil : reading
    }
}
