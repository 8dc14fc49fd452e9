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

/// The jobs of a running app, for operators' commands.
final class LiveJobs: CommandedJobs {
    private let parts: AppParts
    private let context: AppContext
    private let publisher: Publisher
    private let outcomes: OutcomeRecorder
    private let recall: BatchRecall
    private let recovery: Recovery
    private let hints: HintBox
    /// Whether a command is being executed.
    private var isOperating = false
    /// Broadcast when a command ends.
    private let turns: Condition

    init(_ publisher: Publisher, _ recall: BatchRecall, _ recovery: Recovery, _ hints: HintBox) {
        (self.publisher, self.recall, self.recovery, self.hints) = (publisher, recall, recovery, hints)
        outcomes = recall.outcomes
        parts = recall.parts
        context = parts.context
        turns = Condition(on: parts.context.daemon.reactor)
    }

    var app: String { context.name }
    var held: HeldJobs { parts.held }
    var logger: Logger { context.logger }

    func beginTurn() async throws(ControlFault) {
        let isFree = await turns.wait { !isOperating }
        guard isFree, !parts.journal.isBroken, !context.lifecycle.isEnding else { throw ControlFault.stopping }
        guard context.daemon.spool.mayAct else {
            throw ControlFault("the node's lease has run out", hint: "check the file server, and try again")
        }
        isOperating = true
    }

    func endTurn() {
        isOperating = false
        parts.space.lookAtHold()
        turns.broadcast()
    }

    func yield() async { await context.files.worker.yield() }

    func note(failure: any Error) { parts.space.note(failure: failure) }

    /// Makes the intake look at the file.
    func noteReleased(_ name: FileName) {
        hints.add(name, .movedIn)
        parts.intakeWakeup.signal()
    }

    // MARK: Finding the job

    func claimed(_ reference: JobReference) -> [ClaimedJob] {
        (parts.toRecover.found + parts.toRecover.takingUp).map(\.claimed)
            .filter { reference.isMeant(name: $0.name, id: $0.id, ref: nil) }
            + parts.jobs.all.filter { $0.isMeant(by: reference) && !$0.machine.hasEnded }.map(\.claimed)
    }

    func requireNotOver(_ reference: JobReference) throws(ControlFault) {
        guard !parts.jobs.all.contains(where: { $0.isMeant(by: reference) }) else {
            throw ControlFault("already ended", hint: "find it in done/ or failed/ in a moment", hasNothingToDo: true)
        }
    }

    func requireNotDeparting(_ name: FileName) throws(ControlFault) {
        guard !publisher.departures.isWaiting(inHold: name) else {
            throw ControlFault("already ended by an operator", hint: nil, hasNothingToDo: true)
        }
    }

    /// Returns the job if it is under way. Takes it over first if it is from an earlier run.
    private func active(_ claimed: ClaimedJob) async throws(ControlFault) -> ActiveJob? {
        if let index = parts.toRecover.found.firstIndex(where: { $0.claimed.id == claimed.id }) {
            await recovery.takeUp(parts.toRecover.found.remove(at: index))
        }
        guard !parts.toRecover.takingUp.contains(where: { $0.claimed.id == claimed.id }) else {
            throw ControlFault("it is being resumed after a restart", hint: "try again in a moment")
        }
        return parts.jobs[claimed.id].flatMap { $0.machine.hasEnded ? nil : $0 }
    }

    // MARK: Holding

    /// How long an operator waits at most until all notifications on a connection have their outcome.
    private static let holdingLimit = Duration.seconds(20)

    /// The jobs about to be waited for, which may leave the table before the operator has the answer.
    private var holding: [JobID: ActiveJob] = [:]

    func beginHold(_ claimed: ClaimedJob) async throws(ControlFault) -> Bool {
        guard let job = try await active(claimed) else { return false }
        switch job.machine.phase {
        case .sending: break
        case .draining, .parking(.operatorRequest), .held:
            holding[claimed.id] = job
            return true
        case .ending(let ending): throw .ending(ending)
        case .parking(.changed): throw .changed
        case .settled, .concluded, .told, .published, .archived: throw .ended
        }
        guard job.progress.runCount <= Remainder.runLimit else {
            throw ControlFault(
                "its remaining recipients are too scattered to be recorded",
                hint: "cancel it, then retry it to send the rest")
        }
        holding[claimed.id] = job
        outcomes.hold(job)
        await recall.proceedWithHolds()
        return true
    }

    func finishHold(_ claimed: ClaimedJob) async throws(ControlFault) -> ControlAnswer {
        guard let job = holding.removeValue(forKey: claimed.id) else { throw .ended }
        let deadline = ContinuousClock.now + Self.holdingLimit
        _ = await publisher.progress.wait(until: deadline) { [context] in
            job.machine.isOver || context.lifecycle.isEnding
        }
        if job.machine.phase == .parking(.operatorRequest), !context.lifecycle.isEnding {
            await publisher.publish()
            _ = await publisher.progress.wait(until: deadline) { [context] in
                job.machine.phase != .parking(.operatorRequest) || context.lifecycle.isEnding
            }
        }
        let (left, count) = (job.machine.remaining.count, job.summary.recipientCount)
        switch job.machine.phase {
        case .held(let name): return ControlAnswer(.done, "held as hold/\(name), \(left) of \(count) left to send")
        case .parking(.changed): throw .changed
        case .sending, .draining, .ending, .parking(.operatorRequest):
            return ControlAnswer(
                .begun, "being held: no more of it is sent; \(left) of \(count) have no outcome yet",
                hint: "try again; if this lasts, see the log")
        case .settled, .concluded, .told, .published, .archived:
            throw ControlFault("it ended before it was held", hint: nil, hasNothingToDo: true)
        }
    }

    // MARK: Ending

    /// Ends a job. Notifications on a connection still get their own outcome; the others get the command's, for good.
    ///
    /// The rest of the file is still read, to publish these outcomes one by one.
    func end(_ claimed: ClaimedJob, _ code: ResultCode) async throws(ControlFault) -> ControlAnswer? {
        guard let job = try await active(claimed) else { return nil }
        switch job.machine.phase {
        case .sending: break
        case .draining: throw ControlFault("being held", hint: "try again when it is in hold/")
        case .ending(let ending): throw .ending(ending)
        case .parking(.changed): throw .changed
        case .parking, .held, .settled, .concluded, .told, .published, .archived: throw .ended
        }
        let outcome = Outcome.withdrawn(code)
        _ = job.machine.end(rest: outcome)
        let back = await recall.takeBack(job)
        let isEnded = outcomes.withdraw(job, code, outcome)
        // Only this function has these notifications now, even if the job has changed meanwhile.
        let awaited = back.filter { job.machine.isAwaiting($0.indices) }
        guard await outcomes.settle(takenBack: awaited, of: claimed.id, outcome) else { throw ControlFault.stopping }
        guard isEnded else { throw ControlFault("it ended first", hint: nil, hasNothingToDo: true) }
        guard job.machine.phase != .parking(.changed) else { throw .changed }
        parts.journal.write()
        try await requireSync()
        return answer(on: job, code)
    }

    private func requireSync() async throws(ControlFault) {
        guard await parts.journal.sync() else {
            throw ControlFault("the journal cannot be written", hint: "see the log")
        }
    }

    private func answer(on job: ActiveJob, _ code: ResultCode) -> ControlAnswer {
        let (tally, count) = (job.machine.tally, job.summary.recipientCount)
        let (kind, flying) = (Outcome.withdrawn(code).kind, job.machine.remaining.count)
        let ended = tally[kind]
        let rest = flying > 0 ? ", \(flying) in flight" : ""
        context.logger.notice(
            "job ended by an operator",
            metadata: [
                LogKey.job: "\(job.claimed.name)", LogKey.id: "\(job.claimed.id)", LogKey.code: "\(code.rawValue)",
                LogKey.count: "\(ended)",
            ])
        return ControlAnswer(
            .done, "\(code.rawValue): \(tally.accepted) of \(count) accepted, \(ended) \(kind.rawValue)\(rest)")
    }

    func begin(_ departure: Departure) { publisher.depart(departure) }

    func finish(_ departure: Departure) async -> ControlAnswer {
        let isOver = { [departures = publisher.departures] in !departures.isUnderWay(departure.id) }
        await publisher.publish()
        guard !publisher.departures.isWaiting(departure.id) else {
            return ControlAnswer(
                .begun, "in hold/; moves to failed/ when its feedback line is written", hint: "see the log")
        }
        guard await clean(until: isOver) else {
            return ControlAnswer(.begun, "moved to failed/; a power loss may still undo that", hint: "see the log")
        }
        return departure.answer
    }

    /// How long an operator waits at most for a sync of the archives, by which the journal forgets a job.
    private static let cleaningLimit = Duration.seconds(5)

    /// Has the archives synced unless `isOver`. Returns whether it is over then.
    private func clean(until isOver: () -> Bool) async -> Bool {
        if !isOver() { await publisher.clean() }
        // Another task may be cleaning at this moment.
        return await publisher.progress.wait(until: .now + Self.cleaningLimit, for: isOver)
    }

    // MARK: Retrying

    func forgetEnd(of place: ArchivePlace, _: JobID?) async throws(ControlFault) {
        let isForgotten = { [context] in
            !context.daemon.journal.finals(of: context.name).contains { ArchivePlace($0) == place }
        }
        guard await clean(until: isForgotten) else {
            throw ControlFault("its end is still in the journal", hint: "see the log; try again after a restart")
        }
        try await requireSync()
    }
}

extension ControlFault {
    /// The refusal of an app that stops.
    static let stopping = ControlFault("the app is stopping", hint: "try again when it has restarted")
    /// The refusal of a command about a job that has ended.
    fileprivate static let ended = ControlFault("already ended", hint: nil, hasNothingToDo: true)
    /// The refusal of a command about a job whose file has changed, or whose records cannot be read.
    fileprivate static let changed = ControlFault(
        "it moves to hold/ as a whole: its file or what is recorded of it has changed", hint: "see the log")

    /// The refusal of a command about a job that ends.
    fileprivate static func ending(_ ending: JobMachine.Ending) -> ControlFault {
        guard ending.code == nil else { return ControlFault("already being ended", hint: nil, hasNothingToDo: true) }
        return ControlFault("its deadline has passed, and it is being ended", hint: nil)
    }
}

extension ActiveJob {
    fileprivate func isMeant(by reference: JobReference) -> Bool {
        reference.isMeant(name: claimed.name, id: claimed.id, ref: summary.header.ref)
    }
}
