import APNSGateway
import APNSModel
import LinuxIO
import Logging
package import SpoolModel
import SpoolStore

/// Executes operators' commands about the jobs of a running app, one at a time.
final class OperatorCommands {
    private let parts: AppParts
    private let context: AppContext
    private let publisher: Publisher
    private let outcomes: OutcomeRecorder
    private let sender: Sender
    private let recovery: Recovery
    private let hints: HintBox
    /// Whether the jobs of an earlier run have been found. Until then no command is executed.
    private var hasBegun = false
    /// Whether a command is being executed, and the commands that wait for its end.
    private var isOperating = false
    private var awaitingTurn: [CheckedContinuation<Void, Never>] = []

    init(_ publisher: Publisher, _ sender: Sender, _ recovery: Recovery, _ hints: HintBox) {
        (self.publisher, self.sender, self.recovery, self.hints) = (publisher, sender, recovery, hints)
        outcomes = sender.outcomes
        parts = sender.parts
        context = parts.context
    }

    /// Allows commands: the jobs of an earlier run have been found.
    func begin() { hasBegun = true }

    /// Executes a command about a job of this app.
    ///
    /// - Returns: The answer; `nil` if the app has no matching job.
    func carryOut(_ request: ControlRequest, _ reference: JobReference) async -> ControlAnswer? {
        await awaitBeginning()
        guard hasBegun, !parts.journal.isBroken, !context.lifecycle.isEnding else {
            return ControlAnswer(.refused, "the app is stopping", hint: "try again when it has restarted").about(
                context.name)
        }
        do throws(ControlFault) {
            return try await inTurn(request, reference)
        } catch {
            var answer = ControlAnswer(error)
            (answer.app, answer.job) = (context.name, request.jobText(in: context.name))
            return answer
        }
    }

    /// Waits until the jobs of an earlier run and the held jobs have been found, which is soon after the start.
    private func awaitBeginning() async {
        while !hasBegun, !Task.isCancelled { try? await context.daemon.reactor.sleep(for: .milliseconds(20)) }
    }

    private func inTurn(
        _ request: ControlRequest, _ reference: JobReference
    ) async throws(ControlFault) -> ControlAnswer? {
        while isOperating { await withCheckedContinuation { awaitingTurn.append($0) } }
        isOperating = true
        let begun: Begun?
        do throws(ControlFault) {
            begun = try await begin(request, reference)
            if begun == nil { try await requireAbsence(of: reference.anywhere) }
            endTurn()
        } catch {
            endTurn()
            throw error
        }
        switch begun {
        case nil: return nil
        case .over(let answer): return answer
        // Other commands need not wait for the notifications on a connection.
        case .parking(let job):
            return try await awaitHold(job).about(context.name, job.claimed.name, job.claimed.id)
        }
    }

    private func endTurn() {
        isOperating = false
        for waiter in awaitingTurn { waiter.resume() }
        awaitingTurn = []
    }

    /// How far a command has got.
    private enum Begun {
        case over(ControlAnswer)
        /// The notifications of this job that are on a connection are getting their outcome.
        case parking(ActiveJob)
    }

    private func begin(_ request: ControlRequest, _ reference: JobReference) async throws(ControlFault) -> Begun? {
        do {
            switch request.command {
            case .hold: return try await hold(reference)
            case .release: return try release(reference).map(Begun.over)
            case .cancel: return try await end(reference, .cancelled).map(Begun.over)
            case .expire: return try await end(reference, .expired).map(Begun.over)
            case .retry: return try await retry(request, reference).map(Begun.over)
            case .pause, .resume, .stop: return nil
            }
        } catch let fault as ControlFault {
            throw fault
        } catch {
            parts.space.note(failure: error)
            throw ControlFault("\(error)", hint: "the job did not move: fix the cause, then try again")
        }
    }

    // MARK: The commands

    private func hold(_ reference: JobReference) async throws -> Begun? {
        let file: SeenFile
        switch try parts.desk.meant(reference, in: [.new, .work], claimed: allClaimed(reference)) {
        case .claimed(let claimed)?:
            guard let job = try await active(claimed) else { return nil }
            try await beginHold(job)
            return .parking(job)
        case .waiting(let waiting)?: file = waiting
        case .held?, nil:
            try requireNotOver(reference)
            guard try parts.desk.meant(reference, in: [.hold]) != nil else { return nil }
            throw ControlFault("already in hold/", hint: nil)
        }
        guard let parked = try parts.desk.hold(waiting: file) else { return nil }
        context.logger.notice("job held", metadata: [LogKey.job: "\(parked)"])
        return .over(
            ControlAnswer(.done, "held as hold/\(parked), nothing sent yet").about(context.name, file.name))
    }

    private func release(_ reference: JobReference) throws -> ControlAnswer? {
        guard case .held(let file)? = try parts.desk.meant(reference, in: [.hold]) else { return nil }
        guard !publisher.isWithdrawing(file.name) else {
            throw ControlFault("already ended by an operator", hint: nil)
        }
        let sent = try parts.desk.sent(of: file)
        guard let released = try parts.desk.release(file) else { return nil }
        noteReleased(released)
        context.logger.notice("job released", metadata: [LogKey.job: "\(released)"])
        let left = sent.map { ", \($0.progress.remaining.count) of \($0.count) left to send" } ?? ""
        return ControlAnswer(.done, "released as new/\(released)\(left)").about(context.name, file.name, sent?.id)
    }

    private func end(_ reference: JobReference, _ code: ResultCode) async throws -> ControlAnswer? {
        switch try parts.desk.meant(reference, in: [.new, .hold, .work], claimed: allClaimed(reference)) {
        case .claimed(let claimed)?:
            guard let job = try await active(claimed) else { return nil }
            return try await end(job, code).about(context.name, claimed.name, claimed.id)
        case .held(let parked)?: return try await withdraw(parked, parked.name, code)
        case .waiting(let file)?:
            // In `hold/` the file is out of reach: a claim of it that is under way fails.
            guard let parked = try parts.desk.hold(waiting: file), let held = try context.spool.lookInHold(parked)
            else { return nil }
            return try await withdraw(held, file.name, code)
        case nil:
            try requireNotOver(reference)
            return nil
        }
    }

    private func retry(_ request: ControlRequest, _ reference: JobReference) async throws -> ControlAnswer? {
        guard let place = try await findArchived(reference) else { return nil }
        let plan = try parts.desk.plan(of: place, request)
        guard !request.isDryRun else { return plan.answer(.planned).about(context.name, place.name, plan.id) }
        try await forgetEnd(of: place)
        return try carryOut(plan, place, anyway: request.isWhole)
    }

    private func findArchived(_ reference: JobReference) async throws(SystemError) -> ArchivePlace? {
        var search = ArchiveSearch(reference, parts.desk)
        while try !search.step() { await context.files.worker.yield() }
        return search.found
    }

    private func carryOut(_ plan: RetryPlan, _ place: ArchivePlace, anyway: Bool) throws -> ControlAnswer? {
        guard let released = try parts.desk.retry(place, plan, anyway: anyway) else { return nil }
        noteReleased(released)
        context.logger.notice(
            "job retried", metadata: [LogKey.job: "\(released)", LogKey.path: "\(context.name)/\(place.path)"])
        return plan.answer(.done).about(context.name, released, plan.id)
    }

    /// How long an operator waits at most until the journal has forgotten a job.
    private static let forgettingLimit = Duration.seconds(5)

    /// Makes the journal durably forget an archived job. Otherwise the next start would move the job back to the archive.
    ///
    /// - Throws: `ControlFault`: the journal cannot forget the job.
    private func forgetEnd(of place: ArchivePlace) async throws(ControlFault) {
        let isKnown = { [context] in
            context.daemon.journal.finals(of: context.name).contains { ArchivePlace($0) == place }
        }
        let deadline = ContinuousClock.now + Self.forgettingLimit
        while isKnown(), ContinuousClock.now < deadline, !Task.isCancelled {
            await publisher.clean()
            // Another task may be cleaning at this moment.
            if isKnown() { try? await context.daemon.reactor.sleep(for: .milliseconds(20)) }
        }
        guard !isKnown() else {
            throw ControlFault("its end is still in the journal", hint: "see the log; try again after a restart")
        }
        guard await parts.journal.sync() else {
            throw ControlFault("the journal cannot be written", hint: "see the log")
        }
    }

    // MARK: Finding the job

    /// Returns an unambiguous name for each job of this app that a command may refer to.
    ///
    /// - Throws: `SystemError`: a folder cannot be read.
    func candidates(_ request: ControlRequest, _ reference: JobReference) async throws(SystemError) -> [String] {
        await awaitBeginning()
        guard request.command != .retry else {
            return try await findArchived(reference).map { ["\(context.name)/\($0.path)"] } ?? []
        }
        return try parts.desk.allMeant(reference, in: request.command.folders, claimed: allClaimed(reference))
            .map { $0.text(in: context.name) }
    }

    /// The jobs in `work/` that match the reference and have not ended.
    private func allClaimed(_ reference: JobReference) -> [ClaimedJob] {
        (parts.earlier.found + parts.earlier.takingUp).filter { $0.isMeant(by: reference) }.map(\.claimed)
            + parts.jobs.all.filter { $0.isMeant(by: reference) && !$0.isEnding }.map(\.claimed)
    }

    /// Returns the job if it is under way. Takes it over first if it is from an earlier run.
    private func active(_ claimed: ClaimedJob) async throws(ControlFault) -> ActiveJob? {
        if let index = parts.earlier.found.firstIndex(where: { $0.claimed.id == claimed.id }) {
            await recovery.takeUp(parts.earlier.found.remove(at: index))
        }
        guard !parts.earlier.takingUp.contains(where: { $0.claimed.id == claimed.id }) else {
            throw ControlFault("it is being resumed after a restart", hint: "try again in a moment")
        }
        return parts.jobs[claimed.id].flatMap { $0.isEnding ? nil : $0 }
    }

    /// Checks that the job is not in another folder than those in which the command looked for it.
    ///
    /// - Throws: `ControlFault`: it is in another folder, or a folder cannot be read.
    private func requireAbsence(of reference: JobReference) async throws(ControlFault) {
        do {
            let claimed = allClaimed(reference)
            if let job = try parts.desk.allMeant(reference, in: [.new, .hold, .work], claimed: claimed).first {
                throw ControlFault(lyingIn: job)
            }
            try requireNotOver(reference)
            if let place = try await findArchived(reference) { throw ControlFault(over: place) }
        } catch {
            throw (error as? ControlFault) ?? ControlFault("\(error)", hint: "check permissions and disk")
        }
    }

    private func requireNotOver(_ reference: JobReference) throws(ControlFault) {
        guard !parts.jobs.all.contains(where: { $0.isMeant(by: reference) }) else {
            throw ControlFault("already ended", hint: "find it in done/ or failed/ in a moment")
        }
    }

    /// Makes the intake look at a file that was moved to `new/`.
    private func noteReleased(_ name: FileName) {
        hints.add(name, .movedIn)
        parts.intakeBell.ring()
    }

    // MARK: Jobs under way

    /// How long an operator waits at most until all notifications on a connection have their outcome.
    private static let parkingLimit = Duration.seconds(20)

    /// Stops handing out a job.
    ///
    /// - Throws: `ControlFault`: the job cannot be held.
    private func beginHold(_ job: ActiveJob) async throws(ControlFault) {
        switch job.machine.state {
        case .sending: break
        case .draining(.operatorRequest), .held(.operatorRequest): return
        case .stopping: throw ControlFault("already being ended", hint: nil)
        case .draining, .held, .settled, .published, .archived:
            throw ControlFault("already ended", hint: nil)
        }
        guard job.ending == nil else { throw ControlFault("its deadline has passed, and it is being ended", hint: nil) }
        guard job.progress.runCount <= Rest.runLimit else {
            throw ControlFault(
                "its remaining recipients are too scattered to be recorded",
                hint: "cancel it, then retry it to send the rest")
        }
        outcomes.handle(.hold(.operatorRequest), job.claimed.id)
        await sender.proceedWithHolds()
    }

    /// Waits until a job is in `hold/`.
    ///
    /// - Throws: `ControlFault`: the job ended before.
    private func awaitHold(_ job: ActiveJob) async throws(ControlFault) -> ControlAnswer {
        let deadline = ContinuousClock.now + Self.parkingLimit
        var hasPublished = false
        while job.heldAs == nil, ContinuousClock.now < deadline, !context.lifecycle.isEnding, !Task.isCancelled {
            switch job.machine.state {
            case .settled, .published, .archived: throw ControlFault("it ended before it was held", hint: nil)
            case .sending, .draining, .stopping, .held: break
            }
            await sender.proceedWithHolds()
            if !hasPublished, publisher.isParking(job.claimed.id) {
                hasPublished = true
                await publisher.publish()
            } else {
                try? await context.daemon.reactor.sleep(for: .milliseconds(20))
            }
        }
        let (left, count) = (job.machine.remaining.count, job.summary.recipientCount)
        guard let name = job.heldAs else {
            return ControlAnswer(
                .begun, "being held: no more of it is sent; \(left) of \(count) have no outcome yet",
                hint: "try again; if this lasts, see the log")
        }
        return ControlAnswer(.done, "held as hold/\(name), \(left) of \(count) left to send")
    }

    /// Ends a job under way. Notifications on a connection still get their own outcome; the others get the command's, for good.
    ///
    /// The rest of the file is still read, to publish these outcomes one by one.
    ///
    /// - Throws: `ControlFault`: the job has ended or is about to.
    private func end(_ job: ActiveJob, _ code: ResultCode) async throws(ControlFault) -> ControlAnswer {
        switch job.machine.state {
        case .sending: break
        case .draining: throw ControlFault("being held", hint: "try again when it is in hold/")
        case .stopping: throw ControlFault("already being ended", hint: nil)
        case .held, .settled, .published, .archived: throw ControlFault("already ended", hint: nil)
        }
        guard job.ending == nil else { throw ControlFault("its deadline has passed, and it is being ended", hint: nil) }
        let id = job.claimed.id
        let outcome = Outcome.withdrawn(code)
        job.ending = ActiveJob.Ending(outcome: outcome)
        let back = await sender.takeBack(job)
        outcomes.withdraw(job, code, outcome)
        // Only this function has these notifications now, even if the job has changed meanwhile.
        let awaited = back.filter { job.machine.isAwaiting($0.indices) }
        guard await outcomes.settle(takenBack: awaited, of: id, outcome) else {
            throw ControlFault("the app is stopping", hint: "try again when it has restarted")
        }
        guard job.isWithdrawn else { throw ControlFault("it ended first", hint: nil) }
        parts.journal.write()
        guard await parts.journal.sync() else {
            throw ControlFault("the journal cannot be written", hint: "see the log")
        }
        return answer(on: job, code)
    }

    private func answer(on job: ActiveJob, _ code: ResultCode) -> ControlAnswer {
        let (tally, count) = (job.machine.tally, job.summary.recipientCount)
        let ended = code == .expired ? tally.expired : tally.unsent
        let (flying, word) = (job.machine.remaining.count, code == .expired ? "expired" : "unsent")
        let rest = flying > 0 ? ", \(flying) in flight" : ""
        context.logger.notice(
            "job ended by an operator",
            metadata: [
                LogKey.job: "\(job.claimed.name)", LogKey.id: "\(job.claimed.id)", LogKey.code: "\(code.rawValue)",
                LogKey.count: "\(ended)",
            ])
        return ControlAnswer(.done, "\(code.rawValue): \(tally.accepted) of \(count) accepted, \(ended) \(word)\(rest)")
    }

    /// Ends the remainder of a file in `hold/`.
    ///
    /// - Parameters:
    ///   - file: The file there.
    ///   - name: The name under which it was dropped, if known.
    ///   - code: The code with which it ends.
    /// - Returns: The answer to the command.
    /// - Throws: `SystemError`: the file is still in `hold/`.
    private func withdraw(_ file: SeenFile, _ name: FileName, _ code: ResultCode) async throws(SystemError)
        -> ControlAnswer
    {
        let withdrawal = try parts.desk.withdrawal(of: file, name, code)
        let id = withdrawal.id
        publisher.withdraw(withdrawal)
        // The first round may have begun before the line was added.
        for _ in 0..<2 where publisher.isWithdrawing(id) { await publisher.publish() }
        guard !publisher.isWithdrawing(id) else {
            return ControlAnswer(
                .begun, "in hold/; moves to failed/ when its feedback line is written", hint: "see the log"
            ).about(context.name, name, id)
        }
        return withdrawal.answer.about(context.name, name, id)
    }
}

extension ActiveJob {
    /// Whether the job has ended, and only its publication or archiving remains.
    fileprivate var isEnding: Bool {
        switch machine.state {
        case .settled, .published, .archived: true
        case .sending, .draining, .stopping, .held: false
        }
    }

    fileprivate func isMeant(by reference: JobReference) -> Bool {
        switch reference.subject {
        case .name: reference.names.contains(claimed.name)
        case .id(let id): claimed.id == id
        case .ref(let ref): summary.header.ref == ref
        }
    }
}

extension LeftJob {
    /// Whether the reference matches the job. The producer's id is not known before the job is taken over.
    fileprivate func isMeant(by reference: JobReference) -> Bool {
        switch reference.subject {
        case .name: reference.names.contains(claimed.name)
        case .id(let id): claimed.id == id
        case .ref: false
        }
    }
}

extension ControlAnswer {
    /// Returns the same answer with the name of an app.
    package func about(_ app: String) -> ControlAnswer {
        var copy = self
        copy.app = app
        return copy
    }
}
