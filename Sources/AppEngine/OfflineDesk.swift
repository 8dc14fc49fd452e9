import APNSGateway
import APNSModel
package import Configuration
import LinuxIO
package import Logging
package import SpoolModel
import SpoolStore

/// Executes operators' commands while no daemon is running. It holds the node's lock, so that none can start in the
/// meantime.
///
/// Every call blocks. Anything that only a daemon can do is recorded in the journal for the next one.
package final class OfflineDesk {
    private let configuration: DaemonConfiguration
    private let spool: Spool
    private let logger: Logger
    private var apps: [String: (desk: HoldDesk, feedback: FeedbackFolder)] = [:]
    /// The state left by the last daemon, updated by the commands executed since.
    private var left: [String: LeftBehind]

    /// Takes the node's lock, and reads the journal.
    ///
    /// - Throws: `SpoolFault` if a daemon holds the lock, or the spool belongs to another user; `SystemError` if the
    ///   spool cannot be used.
    package init(_ configuration: DaemonConfiguration, logger: Logger) throws {
        self.configuration = configuration
        spool = try Spool(
            path: configuration.spool, node: configuration.node ?? Host.name,
            journalByteCount: configuration.journalByteCount)
        self.logger = logger
        left = spool.replay.leftBehind
    }

    /// Records a clean shutdown, so that the next daemon does not blame a job for the end of this process.
    ///
    /// - Throws: `JournalFault`: recorded changes may be lost.
    package func close() throws {
        try spool.journal.append(.stopped)
        try spool.journal.flush()
    }

    /// Executes one command.
    ///
    /// - Returns: The answer for the operator.
    package func carryOut(_ request: ControlRequest) -> ControlAnswer {
        if request.command == .pause || request.command == .resume { return pauseOrResume(request) }
        guard let reference = request.reference else { return .nameless(request.job ?? "") }
        do {
            let names = try appNames().filter { name in reference.app.map { $0 == name } ?? true }
            if reference.app == nil {
                try ControlFault.requireOne(names.flatMap { name in try candidates(request, reference, name) })
            }
            for name in names {
                if let answer = try carryOut(request, reference, name) { return answer }
            }
            for name in names { try requireAbsence(of: reference.anywhere, try app(name).desk) }
            return .notFound(reference.app, request.jobText(in: reference.app))
        } catch {
            let fault = (error as? ControlFault) ?? ControlFault("\(error)", hint: "check permissions and disk")
            var answer = ControlAnswer(fault)
            (answer.app, answer.job) = (reference.app, request.jobText(in: reference.app))
            return answer
        }
    }

    /// The names of all apps with a `new/` folder. Other folders in the spool are ignored.
    private func appNames() throws(SystemError) -> [String] {
        var names: [String] = []
        for name in try spool.appNames() {
            let hasNew = try spool.root.openChild(Array(name.utf8)).status(of: Array("new".utf8)) != nil
            if hasNew { names.append(name) }
        }
        return names
    }

    /// An unambiguous reference to each job of an app to which the command may refer.
    private func candidates(
        _ request: ControlRequest, _ reference: JobReference, _ name: String
    ) throws -> [String] {
        let desk = try app(name).desk
        guard request.command != .retry else {
            return try archived(reference, desk).map { ["\(name)/\($0.path)"] } ?? []
        }
        let left = try allLeft(reference, desk).map(\.claimed)
        return try desk.allMeant(reference, in: request.command.folders, claimed: left).map { $0.text(in: name) }
    }

    private func carryOut(
        _ request: ControlRequest, _ reference: JobReference, _ name: String
    ) throws -> ControlAnswer? {
        let desk = try app(name).desk
        switch request.command {
        case .hold: return try hold(reference, desk)
        case .release: return try release(reference, desk)
        case .cancel: return try end(reference, .cancelled, desk)
        case .expire: return try end(reference, .expired, desk)
        case .retry: return try retry(request, reference, desk)
        case .pause, .resume, .stop: return nil
        }
    }

    /// Marks an app, or all apps with folders, as paused or resumed for the next daemon.
    private func pauseOrResume(_ request: ControlRequest) -> ControlAnswer {
        do {
            let names = try appNames().filter { name in request.app.map { $0 == name } ?? true }
            if let app = request.app, names.isEmpty {
                return ControlAnswer(.refused, "no such app", hint: "list the folders of the spool").about(app)
            }
            let answers = try names.map { name in
                let spool = try app(name).desk.spool
                if request.command == .pause { try spool.beginPause() } else { try spool.endPause() }
                return ControlAnswer(.done, request.command == .pause ? "paused" : "resumed").about(name)
            }
            let word = request.command == .pause ? "paused" : "resumed"
            return request.app == nil ? ControlAnswer(ofAll: answers, word) : answers[0]
        } catch {
            return ControlAnswer(
                (error as? ControlFault) ?? ControlFault("\(error)", hint: "check permissions and disk"))
        }
    }

    private func app(_ name: String) throws -> (desk: HoldDesk, feedback: FeedbackFolder) {
        if let known = apps[name] { return known }
        let app = try spool.app(name)
        let desk = HoldDesk(app, logger)
        desk.load()
        let feedback = try FeedbackFolder(app, after: left[name]?.newestFeedback)
        feedback.reportIgnored(to: logger)
        apps[name] = (desk, feedback)
        try forgetParked(desk)
        return (desk, feedback)
    }

    /// Removes held jobs from the journal, in case the last daemon died before it could.
    private func forgetParked(_ desk: HoldDesk) throws {
        let claimed = Set(try spool.claimed(in: desk.spool).jobs.map(\.id))
        for id in left[desk.spool.name]?.jobs.keys.filter({ !claimed.contains($0) }) ?? [] {
            if try desk.isParked(id) { try forget(id, desk) }
        }
    }

    // MARK: Commands

    private func hold(_ reference: JobReference, _ desk: HoldDesk) throws -> ControlAnswer? {
        let left = try allLeft(reference, desk)
        let file: SeenFile
        switch try desk.meant(reference, in: [.new, .work], claimed: left.map(\.claimed)) {
        case .claimed?: return try left.first.map { try park($0, desk) }
        case .waiting(let waiting)?: file = waiting
        case .held?, nil:
            guard try desk.meant(reference, in: [.hold]) != nil else { return nil }
            throw ControlFault("already in hold/", hint: nil)
        }
        guard let parked = try desk.hold(waiting: file) else { return nil }
        return ControlAnswer(.done, "held as hold/\(parked), nothing sent yet")
            .about(desk.spool.name, file.name)
    }

    private func release(_ reference: JobReference, _ desk: HoldDesk) throws -> ControlAnswer? {
        guard case .held(let file)? = try desk.meant(reference, in: [.hold]) else { return nil }
        let sent = try desk.sent(of: file)
        guard let released = try desk.release(file) else { return nil }
        let left = sent.map { ", \($0.progress.remaining.count) of \($0.count) left to send" } ?? ""
        return ControlAnswer(.done, "released as new/\(released)\(left)").about(desk.spool.name, file.name, sent?.id)
    }

    private func end(_ reference: JobReference, _ code: ResultCode, _ desk: HoldDesk) throws -> ControlAnswer? {
        let left = try allLeft(reference, desk)
        switch try desk.meant(reference, in: [.new, .hold, .work], claimed: left.map(\.claimed)) {
        case .claimed?: return try left.first.map { try end($0, code, desk) }
        case .held(let held)?: return try withdraw(held, held.name, code, desk)
        case .waiting(let waiting)?:
            guard let parked = try desk.hold(waiting: waiting), let held = try desk.spool.lookInHold(parked) else {
                return nil
            }
            return try withdraw(held, waiting.name, code, desk)
        case nil: return nil
        }
    }

    private func withdraw(
        _ file: SeenFile, _ name: FileName, _ code: ResultCode, _ desk: HoldDesk
    ) throws -> ControlAnswer {
        let withdrawal = try desk.withdrawal(of: file, name, code)
        var lines: [UInt8] = []
        FeedbackLine(app: desk.spool.name, node: spool.node).appendJob(withdrawal.report, to: &lines)
        let feedback = try app(desk.spool.name).feedback
        try feedback.publish(lines, at: .now)
        _ = try desk.carryOut(withdrawal)
        return withdrawal.answer.about(desk.spool.name, name, withdrawal.report.identity.id)
    }

    private func retry(
        _ request: ControlRequest, _ reference: JobReference, _ desk: HoldDesk
    ) throws -> ControlAnswer? {
        guard let place = try archived(reference, desk) else { return nil }
        let plan = try desk.plan(of: place, request)
        guard !request.isDryRun else { return plan.answer(.planned).about(desk.spool.name, place.name, plan.id) }
        if let id = plan.id, let job = spool.journal.job(id), job.final == nil {
            throw ControlFault("it is still being sent", hint: nil)
        }
        let over = left[desk.spool.name]?.jobs.values.first { $0.final.map { ArchivePlace($0) } == place }
        if let over {
            // The job has reached its archive, but the last daemon died before it could record that.
            try desk.spool.syncDay(of: place)
            try forget(over.facts.id, desk)
        }
        guard let released = try desk.retry(place, plan, anyway: request.isWhole) else { return nil }
        return plan.answer(.done).about(desk.spool.name, released, plan.id)
    }

    /// Throws an error that says where the job is, if it is outside the folders that the command searches.
    private func requireAbsence(of reference: JobReference, _ desk: HoldDesk) throws {
        let left = try allLeft(reference, desk).map(\.claimed)
        if let job = try desk.allMeant(reference, in: [.new, .hold, .work], claimed: left).first {
            throw ControlFault(lyingIn: job)
        }
        if let place = try archived(reference, desk) { throw ControlFault(over: place) }
    }

    private func archived(_ reference: JobReference, _ desk: HoldDesk) throws -> ArchivePlace? {
        var search = ArchiveSearch(reference, desk)
        while try !search.step() {}
        return search.found
    }

    // MARK: Jobs in work/

    /// The jobs left in `work/` by the last daemon that match the reference.
    private func allLeft(
        _ reference: JobReference, _ desk: HoldDesk
    ) throws -> [(claimed: ClaimedJob, job: JournalJob?)] {
        guard reference.mayBe(in: .work) else { return [] }
        return try spool.claimed(in: desk.spool).jobs.compactMap { claimed in
            let job = left[desk.spool.name]?.jobs[claimed.id]
            let claimed = claimed.called(job?.facts.name ?? claimed.name)
            switch reference.subject {
            case .name: return reference.names.contains(claimed.name) ? (claimed, job) : nil
            case .id(let id): return claimed.id == id ? (claimed, job) : nil
            case .ref: return nil
            }
        }
    }

    /// Holds a job left in `work/` by the last daemon. Refuses a job with unpublished outcomes, which only a daemon can
    /// publish.
    private func park(_ left: (claimed: ClaimedJob, job: JournalJob?), _ desk: HoldDesk) throws -> ControlAnswer {
        let job = try known(left.job)
        guard job.untold.isEmpty, job.intents.isEmpty else {
            throw ControlFault(
                "the last daemon crashed before it reported all outcomes of this job",
                hint: "cancel it and retry the rest later, or start a daemon and then hold it")
        }
        let progress = job.progress
        let ref = try keptRef(of: left.claimed, job, desk)
        var sent = Rest.Sent(id: job.facts.id, ref: ref, count: job.facts.recipientCount, progress: progress)
        sent.isWanted = job.facts.isSentAnyway
        let name = try desk.park(left.claimed, droppedAt: job.facts.droppedAt, sent)
        try forget(job.facts.id, desk)
        let text = "held as hold/\(name), \(progress.remaining.count) of \(job.facts.recipientCount) left to send"
        return ControlAnswer(.done, text).about(desk.spool.name, left.claimed.name, job.facts.id)
    }

    /// The producer's id of a job. If a recipient was reached, this first records the id, so that another job with it
    /// is a duplicate.
    private func keptRef(of claimed: ClaimedJob, _ job: JournalJob, _ desk: HoldDesk) throws -> String? {
        var context = JobContext(job: job.facts.id, droppedAt: job.facts.droppedAt, carrier: .http2)
        context.limits = configuration.limits
        context.isPublishedByRename = job.facts.isPublishedByRename
        context.isComparedByFile = configuration.comparesFiles
        let summary = try JobSource.read(try desk.spool.open(claimed), context).summary
        let records = summary.records(of: job.facts.id, endedAt: .now)
        guard !records.isEmpty, job.tally.isAnyoneReached, configuration.dedupe > .zero else {
            return summary.header.ref
        }
        let state = try Directory.open(path: configuration.state)
        let book = try RefBook(of: desk.spool.name, in: state, keeping: configuration.dedupe, at: .now)
        try book.keep(records, at: .now)
        return summary.header.ref
    }

    /// Ends a job left in `work/` by the last daemon. The next daemon reports its outcomes and archives it.
    private func end(
        _ left: (claimed: ClaimedJob, job: JournalJob?), _ code: ResultCode, _ desk: HoldDesk
    ) throws -> ControlAnswer {
        let job = try known(left.job)
        let (id, outcome) = (job.facts.id, Outcome.withdrawn(code))
        var rest = job.remaining
        for run in job.intents.runs { rest.subtract(run) }
        if !job.intents.isEmpty {
            try spool.journal.append(.result(id, JournalResult(.unknown, job.intents.runs, at: .now)))
        }
        if !rest.isEmpty { try spool.journal.append(.result(id, JournalResult(outcome, rest.runs, at: .now))) }
        let conclusion = Conclusion(tally: spool.journal.job(id)?.tally ?? job.tally, fault: code)
        let place = try desk.spool.place(for: left.claimed.name, in: .failed, at: .now, withResult: true)
        var final = JournalFinal(conclusion, day: place.day, name: place.name, finishedAt: .now)
        final.why = code.explanation
        try spool.journal.append(.final(id, final))
        try spool.journal.flush()
        self.left[desk.spool.name]?.jobs[id] = nil
        let text = "\(code.rawValue): \(conclusion.tally.accepted) of \(job.facts.recipientCount) accepted, "
        return ControlAnswer(.done, text + "\(rest.count) not sent; the next daemon reports and archives it")
            .about(desk.spool.name, left.claimed.name, id)
    }

    private func known(_ job: JournalJob?) throws(ControlFault) -> JournalJob {
        guard let job else {
            throw ControlFault("the journal has no record of it, or it has ended", hint: "start a daemon")
        }
        guard job.final == nil else { throw ControlFault("already ended", hint: "start a daemon to archive it") }
        return job
    }

    /// Has the journal forget a job. The last daemon may have died before it synced the job's move.
    private func forget(_ id: JobID, _ desk: HoldDesk) throws {
        try desk.spool.work.syncFilesystem(.archives)
        try spool.journal.append(.cleaned(id))
        try spool.journal.flush()
        left[desk.spool.name]?.jobs[id] = nil
    }
}

extension ControlAnswer {
    /// The answer to a command that does not name a job.
    package static func nameless(_ text: String) -> ControlAnswer {
        var answer = ControlAnswer(
            .refused, "not a job",
            hint: "give APP/NAME, the path of its file in the spool, an id, or ref:REF")
        answer.job = text
        return answer
    }

    /// Combines the answers for several apps: lists the apps for which the command succeeded, and the reason for each
    /// of the others.
    package init(ofAll answers: [ControlAnswer], _ word: String) {
        let refused = answers.filter { !$0.isGood }
        let names = answers.filter(\.isGood).compactMap(\.app).sorted().joined(separator: ", ")
        let words = names.isEmpty ? "no app is running" : "\(word): \(names)"
        let rest = refused.map { "; not \($0.app ?? ""): \($0.text)" }.joined()
        self.init(refused.isEmpty && !names.isEmpty ? .done : .refused, words + rest, hint: refused.first?.hint)
    }

    /// The answer that the job does not exist.
    package static func notFound(_ app: String?, _ job: String?) -> ControlAnswer {
        let hint = "run `pushspool show` to search all folders; `ref:` finds only jobs that were claimed"
        var answer = ControlAnswer(.notFound, "no such job", hint: hint)
        (answer.app, answer.job) = (app, job)
        return answer
    }
}
