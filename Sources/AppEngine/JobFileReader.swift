import Configuration
import Document
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
import Synchronization

/// A job whose file was read completely.
struct CheckedFile {
    /// The reader that hands out the recipients.
    let source: JobSource
    /// The result of the pass over the file.
    let reading: JobSource.Reading
    /// The file as the journal names it. Its START is in force until a HEADER, or an ENDED that the caller records.
    let subject: JournalSubject

    init(_ reading: JobSource.Reading, _ subject: JournalSubject) throws(SystemError) {
        (source, self.reading, self.subject) = (try JobSource(reading), reading, subject)
    }
}

/// A job that was read completely and is not claimed yet.
///
/// An object because of its size: as a value it would be copied at each step on its way to the claim.
final class ReadJob {
    let context: JobContext
    let source: JobSource
    var summary: JobSummary
    let content: JournalHeader.Content
    /// Whether its file is known to be complete: it says so itself, or it was renamed into place.
    let isKnownComplete: Bool
    /// The job of which this one is a duplicate, if any.
    var earlier: SentTwin?
    /// The job's remainder, if it was held or archived before.
    var remainder: Remainder?
    /// Whether to send the job even if the same job was sent before: it was partly sent, or an operator wants it.
    var isSentAnyway = false

    init(context: JobContext, _ opened: CheckedFile, isKnownComplete: Bool) {
        self.context = context
        self.source = opened.source
        self.summary = opened.reading.summary
        self.content = opened.reading.content
        self.isKnownComplete = isKnownComplete
    }
}

/// The result of reading a file.
enum ReadingResult {
    /// The file was read completely.
    case read(CheckedFile)
    /// The daemon died too often while reading the file, the last time while reading it alone. It is not opened again.
    case poison
    /// The app stops, or another file must be read first. The file was not read completely.
    case abandoned
}

/// Reads job files completely. The journal records each reading, in case the daemon dies during it.
final class JobFileReader {
    private let parts: AppParts
    private let app: AppContext
    /// What the configuration says of every job.
    private var terms: JobContext
    private let buffers = JobSource.Buffers()
    /// Suspect files that were read since without a crash.
    private var acquitted: Set<JournalSubject> = []
    /// Whether a suspect file is being read.
    private(set) var isReadingAlone = false
    /// The number of files being read to be announced or taken over. A short file may be read while a long one is.
    private(set) var count = 0
    /// Whether a short file is being taken while a long one is read.
    var isBeside = false
    /// Takes short files while a long one is read on its own thread. Not a closure: a stored one runs on a thread of the pool.
    weak var intake: IntakeLoop?

    init(_ parts: AppParts, _ configured: ConfiguredApp) {
        (self.parts, terms, app) = (parts, JobContext(of: configured), parts.context)
    }

    /// Uses another configuration from the next file on.
    func configure(_ configured: ConfiguredApp) { terms = JobContext(of: configured) }

    /// Counts a file as being read while `body` runs.
    func counting(_ body: () async -> Void) async {
        count += 1
        await body()
        count -= 1
    }

    /// Returns the context for reading a job. It was dropped at its ctime or the given time, but never in the future.
    func context(of job: OpenJob, id: JobID, _ isPublishedByRename: Bool, at drop: WallTime? = nil) -> JobContext {
        let (time, clock) = (drop ?? WallTime(nanoseconds: job.status.changedAt), app.daemon.clock.look())
        var context = terms
        context.job = id
        context.noteDrop(at: time, now: .now, by: clock)
        context.limits = app.daemon.configuration.limits
        context.isPublishedByRename = isPublishedByRename
        context.lane = job.name.lane
        context.isComparedByFile = app.daemon.configuration.intake.comparesFiles
        return context
    }

    /// Returns the context for a job that was held or is retried: it keeps its id and the time of its drop.
    func context(of job: OpenJob, _ remainder: Remainder?, isPublishedByRename: Bool) -> JobContext {
        let droppedAt = remainder?.droppedAt ?? parts.intake.value.dropTime(of: job.name)
        return context(of: job, id: remainder?.sent?.id ?? .random(), isPublishedByRename, at: droppedAt)
    }

    /// Reads a file once, completely. The journal records the reading, in case the daemon dies during it. Its end is recorded
    /// with the next records, at the latest before the app waits: a later death does not count against this file.
    ///
    /// - Parameters:
    ///   - job: The file.
    ///   - status: The file's status when it was found.
    ///   - context: The context for reading it.
    ///   - isLimited: Whether reading has a budget. A job that was claimed before has already passed it.
    /// - Returns: The result.
    /// - Throws: `SystemError` if reading fails: the file cannot be judged.
    func readThrough(
        _ job: OpenJob, _ status: FileStatus, _ context: JobContext, isLimited: Bool = true
    ) async throws(SystemError) -> ReadingResult {
        var subject = JournalSubject(app: app.name, name: job.name)
        (subject.device, subject.inode) = (app.spool.recordedDevice(of: status), status.inode)
        subject.changedAt = WallTime(nanoseconds: status.changedAt)
        let suspicion = acquitted.contains(subject) ? nil : app.daemon.journal.suspicion(of: subject)
        if suspicion?.judgement == .hold { return .poison }
        let isSuspect = suspicion != nil
        if isSuspect {
            // The suspect would wait for this app's long file, during which it was taken. It is read in its own turn instead.
            guard !isBeside else { return .abandoned }
            app.logger.warning(
                "job is read alone: the daemon crashed while it read this job", metadata: [LogKey.job: "\(job.name)"])
        }
        guard await app.daemon.reading.enter(alone: isSuspect, deathCount: suspicion?.deathCount ?? 0) else {
            return .abandoned
        }
        if isSuspect { isReadingAlone = true }
        parts.journal.record(.start(subject))
        parts.journal.write()
        var file: CheckedFile?
        defer {
            if file == nil { parts.journal.record(.ended(subject)) }
            if isSuspect {
                isReadingAlone = false
                acquitted.insert(subject)
            }
            app.daemon.reading.leave(alone: isSuspect)
        }
        if let reading = try await peruse(job, context, isLimited: isLimited) {
            file = try CheckedFile(reading, subject)
        }
        return file.map(ReadingResult.read) ?? .abandoned
    }

    /// How much processor time this thread may spend on a file once so much time has passed. Ordinary short files take a
    /// millisecond.
    private static let patience = Duration.milliseconds(25)

    /// Reads a short file on this thread, and a file that is long or slow to read on its own thread.
    ///
    /// - Returns: `nil` if the app stops before the end.
    private func peruse(
        _ job: OpenJob, _ context: JobContext, isLimited: Bool
    ) async throws(SystemError) -> JobSource.Reading? {
        if job.status.byteCount <= Int64(JournalHeader.byteLimit), let reading = try readHere(job, context) {
            return reading
        }
        let reading = try LongReading(job, context, isLimited: isLimited, on: app.daemon.reactor)
        while !app.lifecycle.isDraining, !app.lifecycle.isEnding, !Task.isCancelled {
            if let outcome = reading.take() { return try outcome.get() }
            await intake?.goOnBesideReading()
            await reading.wait()
        }
        await reading.abandon()
        return nil
    }

    /// Reads a file on this thread, which other tasks share; `nil` if that takes too long, or the file has grown long.
    private func readHere(_ job: OpenJob, _ context: JobContext) throws(SystemError) -> JobSource.Reading? {
        let (began, isLate) = (Moment.now, StopFlag())
        let start = Atomic<Int64>(0)
        let budget = ReadingBudget.unlimited.unless {
            // The time that passes costs no system call, and nearly all files are read by then.
            guard Moment.now - began > Self.patience else { return false }
            let (used, first) = (ThreadClock.nanoseconds(), start.load(ordering: .relaxed))
            if first == 0 { start.store(used, ordering: .relaxed) }
            if first > 0, Duration.nanoseconds(used - first) > Self.patience { isLate.set() }
            return isLate.isSet
        }
        let reading = try JobSource.read(job, context, with: buffers, within: budget)
        if case .checks = reading.content { return nil }
        return isLate.isSet ? nil : reading
    }
}
