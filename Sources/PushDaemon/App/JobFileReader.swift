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

/// Reads files of jobs to their ends, and tells the journal meanwhile, should the daemon die over one.
final class JobFileReader {
    private let parts: AppParts
    private let app: AppContext
    private var configuration: AppConfiguration
    private var identity: AppIdentity
    /// Files over which the daemon may have died, and that were read since.
    private var acquitted: Set<JournalSubject> = []
    /// Whether one of those is being read.
    private(set) var isReadingAlone = false
    /// How many files are being read that will be announced or taken up then: a short one may be beside a long one.
    private(set) var count = 0
    /// Whether short files are taken beside a long one.
    var isBeside = false
    /// What is done again and again while a long file is read on its own thread: short files do not wait for it.
    var meanwhile: () async -> Void = {}

    init(_ parts: AppParts, _ configuration: AppConfiguration, _ identity: AppIdentity) {
        (self.parts, self.configuration, self.identity, app) = (parts, configuration, identity, parts.context)
    }

    /// Reads for another configuration from the next file on.
    func configure(_ configuration: AppConfiguration, _ identity: AppIdentity) {
        (self.configuration, self.identity) = (configuration, identity)
    }

    /// Counts a file that is being read while `body` runs.
    func counting(_ body: () async -> Void) async {
        count += 1
        await body()
        count -= 1
    }

    /// What reading a job needs to know. "The drop" is the file's change time, but never in the future.
    func context(of job: OpenJob, id: JobID, _ isPublishedByRename: Bool) -> JobContext {
        let droppedAt = WallTime(nanoseconds: job.status.changedAt)
        var context = JobContext(job: id, droppedAt: droppedAt, carrier: configuration.carrier, topic: identity.topic)
        context.noteDrop(at: droppedAt, now: .now, by: app.daemon.clock.look())
        context.identity = identity.proof
        context.onDoubt = configuration.onDoubt
        context.limits = app.daemon.configuration.limits
        context.isPublishedByRename = isPublishedByRename
        context.lane = job.name.lane
        context.isComparedByFile = app.daemon.configuration.comparesFiles
        return context
    }

    /// The same of a job that was parked, or is tried again: it keeps its id and the time of its drop.
    func context(of job: OpenJob, _ rest: Rest?, isPublishedByRename: Bool) -> JobContext {
        var context = context(of: job, id: rest?.sent?.id ?? .random(), isPublishedByRename)
        if let droppedAt = rest?.droppedAt ?? parts.intake.dropTime(of: job.name) {
            context.noteDrop(at: droppedAt, now: .now, by: app.daemon.clock.look())
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
        var subject = JournalSubject(app: app.name, name: job.name)
        (subject.device, subject.inode) = (status.device, status.inode)
        subject.changedAt = WallTime(nanoseconds: status.changedAt)
        let suspicion = acquitted.contains(subject) ? nil : app.daemon.spool.replay.suspects[subject]
        if suspicion?.judgement == .hold { return .poison }
        let isSuspect = suspicion != nil
        if isSuspect {
            // It would wait for the long file of this app, beside which it is taken: it is read in its turn.
            guard !isBeside else { return .abandoned }
            app.logger.warning(
                "job is read alone: the daemon died while it was read", metadata: [LogKey.job: "\(job.name)"])
        }
        guard await app.daemon.reading.enter(alone: isSuspect, deathCount: suspicion?.deathCount ?? 0) else {
            return .abandoned
        }
        if isSuspect { isReadingAlone = true }
        parts.journal.record(.start(subject))
        parts.journal.write()
        let outcome: Result<JobSource.Reading?, SystemError>
        do {
            outcome = .success(try await peruse(job, context, isLimited: isLimited))
        } catch {
            outcome = .failure(error)
        }
        // Written with what comes next, at the latest before the app waits for something: a death that comes later is not
        // its fault.
        parts.journal.record(.ended(subject))
        if isSuspect {
            isReadingAlone = false
            acquitted.insert(subject)
        }
        app.daemon.reading.leave(alone: isSuspect)
        guard let reading = try outcome.get() else { return .abandoned }
        return .read(try OpenedJob(reading))
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
        let reading = try LongReading(job, context, isLimited: isLimited, on: app.daemon.reactor)
        while !app.lifecycle.isDraining, !app.lifecycle.isEnding, !Task.isCancelled {
            if let outcome = reading.take() { return try outcome.get() }
            await meanwhile()
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
