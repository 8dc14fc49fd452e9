package import JobFormat
import JournalModel
package import LinuxIO
package import Logging
package import PushModel
import ServiceProcess
package import SpoolModel
package import SpoolStore

/// The jobs of an app on which operators' commands act: with a daemon `LiveJobs`, without one `StoppedJobs`.
package protocol CommandedJobs {
    /// The app's name.
    var app: String { get }
    /// The files in `new/` and `hold/`, and the archives.
    var held: HeldJobs { get }
    /// Logs with the app's name.
    var logger: Logger { get }

    /// Waits until commands are possible and no other command is being executed.
    ///
    /// - Throws: `ControlFault`: the app is stopping.
    func beginTurn() async throws(ControlFault)
    /// Lets the next command begin.
    func endTurn()
    /// Lets other work run between the steps of a long search.
    func yield() async

    /// The jobs in `work/` that match the reference and have not ended.
    ///
    /// - Throws: `SystemError`: `work/` cannot be read.
    func claimed(_ reference: JobReference) throws(SystemError) -> [ClaimedJob]
    /// Checks that no matching job has ended and is only to be archived.
    ///
    /// - Throws: `ControlFault`: there is such a job.
    func requireNotOver(_ reference: JobReference) throws(ControlFault)
    /// Checks that a file in `hold/` was not ended.
    ///
    /// - Throws: `ControlFault`: it was.
    func requireNotDeparting(_ name: FileName) throws(ControlFault)

    /// Stops sending a job in `work/`.
    ///
    /// - Returns: Whether the job is still there.
    /// - Throws: `ControlFault`: it cannot be held.
    func beginHold(_ job: ClaimedJob) async throws -> Bool
    /// Moves the job to `hold/`, once its notifications on a connection have their outcome. Other commands may run.
    ///
    /// - Throws: `ControlFault`: it ended before; `SystemError`: it did not move.
    func finishHold(_ job: ClaimedJob) async throws -> ControlAnswer
    /// Ends a job in `work/`.
    ///
    /// - Returns: The answer; `nil` if the job is gone.
    /// - Throws: `ControlFault`: it cannot be ended.
    func end(_ job: ClaimedJob, _ code: ResultCode) async throws -> ControlAnswer?
    /// Lets a file in `hold/` end.
    func begin(_ departure: Departure)
    /// Publishes the line of the file, then moves it to `failed/` for good. Other commands may run.
    ///
    /// - Throws: `SystemError`: the file is still in `hold/`.
    func finish(_ departure: Departure) async throws -> ControlAnswer
    /// Makes the journal durably forget an archived job that is to be sent again. Otherwise the next start would move
    /// it back to the archive.
    ///
    /// - Parameters:
    ///   - place: Its place in the archive.
    ///   - id: The id that it keeps, if any.
    /// - Throws: `ControlFault`: the journal cannot forget it.
    func forgetEnd(of place: ArchivePlace, _ id: JobID?) async throws
    /// Takes note of a file that was moved to `new/`.
    func noteReleased(_ name: FileName)
    /// Takes note of a file operation that failed.
    func note(failure: any Error)
}

/// Executes operators' commands about the jobs of an app, one at a time.
package final class OperatorCommands: CommandedApp {
    private let jobs: any CommandedJobs
    private let held: HeldJobs
    private let logger: Logger
    private let app: String

    /// Creates the commands for the jobs of an app.
    package init(_ jobs: any CommandedJobs) {
        (self.jobs, held, logger, app) = (jobs, jobs.held, jobs.logger, jobs.app)
    }

    package func candidates(_ request: ControlRequest, _ reference: JobReference) async throws(SystemError) -> [String]
    {
        guard request.command != .retry else {
            return try await findArchived(reference).map { ["\(app)/\($0.path)"] } ?? []
        }
        return try allMeant(reference, in: request.command.folders).map { $0.text(in: app) }
    }

    package func carryOut(_ request: ControlRequest, _ reference: JobReference) async -> ControlAnswer? {
        do {
            switch try await inTurn(request, reference) {
            case nil: return nil
            case .over(let answer)?: return answer
            // Other commands need not wait for the notifications on a connection, and share the syncs of departures.
            case .holding(let job)?: return try await jobs.finishHold(job).about(app, job.name, job.id)
            case .departing(let departure)?:
                return try await jobs.finish(departure).about(app, departure.report.identity.name, departure.id)
            }
        } catch {
            if !(error is ControlFault) { jobs.note(failure: error) }
            return request.refusal(error, in: app, hint: "the job did not move: fix the cause, then try again")
        }
    }

    /// How far a command has got.
    private enum Progress {
        case over(ControlAnswer)
        /// The notifications of this job that are on a connection are getting their outcome.
        case holding(ClaimedJob)
        /// This file of `hold/` ends.
        case departing(Departure)
    }

    private func inTurn(_ request: ControlRequest, _ reference: JobReference) async throws -> Progress? {
        try await jobs.beginTurn()
        defer { jobs.endTurn() }
        if let progress = try await begin(request, reference) { return progress }
        try await requireAbsence(of: reference.anywhere)
        return nil
    }

    private func begin(_ request: ControlRequest, _ reference: JobReference) async throws -> Progress? {
        switch request.command {
        case .hold: try await hold(reference)
        case .release: try release(reference).map(Progress.over)
        case .cancel: try await end(reference, .cancelled)
        case .expire: try await end(reference, .expired)
        case .retry: try await retry(request, reference).map(Progress.over)
        case .pause, .resume, .stop, .reload: nil
        }
    }

    // MARK: The commands

    private func hold(_ reference: JobReference) async throws -> Progress? {
        switch try meant(reference, in: [.new, .work]) {
        case .claimed(let job)?: return try await jobs.beginHold(job) ? .holding(job) : nil
        case .waiting(let file)?:
            guard let name = try held.hold(waiting: file) else { return nil }
            logger.notice("job held", metadata: [LogKey.job: "\(name)"])
            return .over(ControlAnswer(.done, "held as hold/\(name), nothing sent yet").about(app, file.name))
        case .held?, nil:
            try jobs.requireNotOver(reference)
            guard try meant(reference, in: [.hold]) != nil else { return nil }
            throw ControlFault("already in hold/", hint: nil, hasNothingToDo: true)
        }
    }

    private func release(_ reference: JobReference) throws -> ControlAnswer? {
        guard case .held(let file)? = try meant(reference, in: [.hold]) else { return nil }
        try jobs.requireNotDeparting(file.name)
        let sent = try held.sent(of: file)
        guard let released = try held.spool.hold.release(file) else { return nil }
        jobs.noteReleased(released)
        logger.notice("job released", metadata: [LogKey.job: "\(released)"])
        let left = sent.map { ", \($0.progress.remaining.count) of \($0.count) left to send" } ?? ""
        return ControlAnswer(.done, "released as new/\(released)\(left)").about(app, file.name, sent?.id)
    }

    private func end(_ reference: JobReference, _ code: ResultCode) async throws -> Progress? {
        switch try meant(reference, in: [.new, .hold, .work]) {
        case .claimed(let job)?:
            return try await jobs.end(job, code).map { .over($0.about(app, job.name, job.id)) }
        case .held(let file)?:
            try jobs.requireNotDeparting(file.name)
            return try depart(file, file.name, code)
        case .waiting(let file)?:
            // In `hold/` the file is out of reach: a claim of it that is under way fails.
            guard let name = try held.hold(waiting: file), let moved = try held.spool.hold.look(name) else {
                return nil
            }
            return try depart(moved, file.name, code)
        case nil:
            try jobs.requireNotOver(reference)
            return nil
        }
    }

    /// Ends the remainder of a file in `hold/`, which was dropped under `name` if that is known.
    private func depart(_ file: SeenFile, _ name: FileName, _ code: ResultCode) throws(SystemError) -> Progress {
        let departure = try held.departure(of: file, name, code)
        jobs.begin(departure)
        return .departing(departure)
    }

    private func retry(_ request: ControlRequest, _ reference: JobReference) async throws -> ControlAnswer? {
        guard let place = try await findArchived(reference) else { return nil }
        let plan = try held.plan(of: place, request)
        guard !request.isDryRun else { return plan.answer(.planned).about(app, place.name, plan.id) }
        try await jobs.forgetEnd(of: place, plan.id)
        guard let released = try held.retry(place, plan, anyway: request.isWhole) else { return nil }
        jobs.noteReleased(released)
        logger.notice("job retried", metadata: [LogKey.job: "\(released)", LogKey.path: "\(app)/\(place.path)"])
        return plan.answer(.done).about(app, released, plan.id)
    }

    // MARK: Finding the job

    private func allMeant(
        _ reference: JobReference, in folders: Set<JobReference.Folder>
    ) throws(SystemError) -> [MeantJob] {
        let isInWork = folders.contains(.work) && reference.mayBe(in: .work)
        return try held.allMeant(reference, in: folders)
            + (isInWork ? jobs.claimed(reference).map(MeantJob.claimed) : [])
    }

    /// The job to which the command refers; `nil` if none matches.
    ///
    /// - Throws: `ControlFault`: several jobs match; `SystemError`: a file cannot be examined.
    private func meant(_ reference: JobReference, in folders: Set<JobReference.Folder>) throws -> MeantJob? {
        let found = try allMeant(reference, in: folders)
        try ControlFault.requireOne(found.map { $0.text(in: app) })
        return found.first
    }

    private func findArchived(_ reference: JobReference) async throws(SystemError) -> ArchivePlace? {
        var search = ArchiveSearch(reference, held.spool)
        while try !search.step() { await jobs.yield() }
        return search.found
    }

    /// Checks that the job is not in another folder than those in which the command looked for it.
    ///
    /// - Throws: `ControlFault` that says where the job is; `SystemError`: a folder cannot be read.
    private func requireAbsence(of reference: JobReference) async throws {
        let folders: Set<JobReference.Folder> = [.new, .hold, .work]
        if let job = try allMeant(reference, in: folders).first { throw ControlFault(lyingIn: job) }
        try jobs.requireNotOver(reference)
        if let place = try await findArchived(reference) { throw ControlFault(over: place) }
    }
}
