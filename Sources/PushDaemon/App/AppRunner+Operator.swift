import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

// What operators ask for, one command at a time.
extension AppRunner {
    /// Carries out a command about a job of this app.
    ///
    /// - Returns: What came of it; `nil` when the app has no such job.
    func carryOut(_ request: ControlRequest, _ reference: JobReference) async -> ControlAnswer? {
        await awaitBeginning()
        guard hasBegun, !journal.isBroken, !lifecycle.isEnding else {
            return ControlAnswer(.refused, "the app ends", hint: "ask again when it has started anew").about(name)
        }
        do throws(ControlFault) {
            return try await inTurn(request, reference)
        } catch {
            var answer = ControlAnswer(error)
            (answer.app, answer.job) = (name, request.jobText(in: name))
            return answer
        }
    }

    /// Waits until it is known what an earlier run has left, and what of parked jobs; that is soon after the start.
    private func awaitBeginning() async {
        while !hasBegun, !Task.isCancelled { try? await around.reactor.sleep(for: .milliseconds(20)) }
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
        // Others need not wait for what is on a connection.
        case .parking(let job):
            return try await awaitHold(job).about(name, job.claimed.name, job.claimed.id)
        }
    }

    private func endTurn() {
        isOperating = false
        for waiter in awaitingTurn { waiter.resume() }
        awaitingTurn = []
    }

    /// How far a command has come.
    private enum Begun {
        case over(ControlAnswer)
        /// What is on a connection of this job gets its outcome.
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
            space.note(failure: error)
            throw ControlFault("\(error)", hint: "it is where it was; mend that, then ask again")
        }
    }

    // MARK: The commands

    private func hold(_ reference: JobReference) async throws -> Begun? {
        let file: SeenFile
        switch try desk.meant(reference, in: [.new, .work], claimed: allClaimed(reference)) {
        case .claimed(let claimed)?:
            guard let job = try await active(claimed) else { return nil }
            try await beginHold(job)
            return .parking(job)
        case .waiting(let waiting)?: file = waiting
        case .held?, nil:
            try requireNotOver(reference)
            guard try desk.meant(reference, in: [.hold]) != nil else { return nil }
            throw ControlFault("it is in hold/ already", hint: nil)
        }
        guard let parked = try desk.hold(waiting: file) else { return nil }
        logger.notice("job held", metadata: [LogKey.job: "\(parked)"])
        return .over(ControlAnswer(.done, "held as hold/\(parked), nothing of it was sent yet").about(name, file.name))
    }

    private func release(_ reference: JobReference) throws -> ControlAnswer? {
        guard case .held(let file)? = try desk.meant(reference, in: [.hold]) else { return nil }
        guard !withdrawals.contains(where: { $0.file.name == file.name }) else {
            throw ControlFault("it has been ended", hint: nil)
        }
        let sent = try desk.sent(of: file)
        guard let released = try desk.release(file) else { return nil }
        hint(released, .published)
        logger.notice("job released", metadata: [LogKey.job: "\(released)"])
        let left = sent.map { ", \($0.progress.remaining.count) of \($0.count) are sent" } ?? ""
        return ControlAnswer(.done, "released as new/\(released)\(left)").about(name, file.name, sent?.id)
    }

    private func end(_ reference: JobReference, _ code: ResultCode) async throws -> ControlAnswer? {
        switch try desk.meant(reference, in: [.new, .hold, .work], claimed: allClaimed(reference)) {
        case .claimed(let claimed)?:
            guard let job = try await active(claimed) else { return nil }
            return try await end(job, code).about(name, claimed.name, claimed.id)
        case .held(let parked)?: return try await withdraw(parked, parked.name, code)
        case .waiting(let file)?:
            // In hold/ it is nobody's: a claim of it comes to nothing, whatever happens now.
            guard let parked = try desk.hold(waiting: file), let held = try spool.lookInHold(parked) else { return nil }
            return try await withdraw(held, file.name, code)
        case nil:
            try requireNotOver(reference)
            return nil
        }
    }

    private func retry(_ request: ControlRequest, _ reference: JobReference) async throws -> ControlAnswer? {
        guard let place = try await findArchived(reference) else { return nil }
        let plan = try desk.plan(of: place, request)
        guard !request.isDryRun else { return plan.answer(.planned).about(name, place.name, plan.id) }
        try await forgetEnd(of: place)
        return try carryOut(plan, place, anyway: request.isWhole)
    }

    private func findArchived(_ reference: JobReference) async throws(SystemError) -> ArchivePlace? {
        var search = ArchiveSearch(reference, desk)
        while try !search.step() { await files.worker.yield() }
        return search.found
    }

    private func carryOut(_ plan: RetryPlan, _ place: ArchivePlace, anyway: Bool) throws -> ControlAnswer? {
        guard let released = try desk.retry(place, plan, anyway: anyway) else { return nil }
        hint(released, .published)
        logger.notice(
            "job is tried again", metadata: [LogKey.job: "\(released)", LogKey.path: "\(name)/\(place.path)"])
        return plan.answer(.done).about(name, released, plan.id)
    }

    /// How long an operator waits at most until the journal has forgotten a job.
    private static let forgettingLimit = Duration.seconds(5)

    /// Has the journal forget for good a job that is in its archive: the next start would put it back there.
    ///
    /// - Throws: `ControlFault`: it cannot.
    private func forgetEnd(of place: ArchivePlace) async throws(ControlFault) {
        let isKnown = { [self] in around.journal.finals(of: name).contains { ArchivePlace($0) == place } }
        let deadline = ContinuousClock.now + Self.forgettingLimit
        while isKnown(), ContinuousClock.now < deadline, !Task.isCancelled {
            await cleanArchived()
            // Or somebody else is at it.
            if isKnown() { try? await around.reactor.sleep(for: .milliseconds(20)) }
        }
        guard !isKnown() else {
            throw ControlFault("the journal cannot forget its end", hint: "see the log; ask again after a restart")
        }
        guard await journal.sync() else { throw ControlFault("the journal cannot be written", hint: "see the log") }
    }

    // MARK: What is meant

    /// What would name each job of this app that a command may mean.
    ///
    /// - Throws: `SystemError`: folders cannot be looked into.
    func candidates(_ request: ControlRequest, _ reference: JobReference) async throws(SystemError) -> [String] {
        await awaitBeginning()
        guard request.command != .retry else {
            return try await findArchived(reference).map { ["\(name)/\($0.path)"] } ?? []
        }
        return try desk.allMeant(reference, in: request.command.folders, claimed: allClaimed(reference))
            .map { $0.text(in: name) }
    }

    /// All jobs in `work/` that may be meant, and are not over.
    private func allClaimed(_ reference: JobReference) -> [ClaimedJob] {
        (leftJobs + takingUp).filter { $0.isMeant(by: reference) }.map(\.claimed)
            + jobs.values.filter { $0.isMeant(by: reference) && !$0.isEnding }.map(\.claimed)
    }

    /// A job that is under way; one of an earlier run is taken up for that.
    private func active(_ claimed: ClaimedJob) async throws(ControlFault) -> ActiveJob? {
        if let index = leftJobs.firstIndex(where: { $0.claimed.id == claimed.id }) {
            await takeUp(leftJobs.remove(at: index))
        }
        guard !takingUp.contains(where: { $0.claimed.id == claimed.id }) else {
            throw ControlFault("it is being taken up after a start", hint: "ask again in a moment")
        }
        return jobs[claimed.id].flatMap { $0.isEnding ? nil : $0 }
    }

    /// Says where a job is that a command has not found where it looks.
    ///
    /// - Throws: `ControlFault`: it is somewhere, or folders cannot be looked into.
    private func requireAbsence(of reference: JobReference) async throws(ControlFault) {
        do {
            let claimed = allClaimed(reference)
            if let job = try desk.allMeant(reference, in: [.new, .hold, .work], claimed: claimed).first {
                throw ControlFault(lyingIn: job)
            }
            try requireNotOver(reference)
            if let place = try await findArchived(reference) { throw ControlFault(over: place) }
        } catch {
            throw (error as? ControlFault) ?? ControlFault("\(error)", hint: "see permissions and disk")
        }
    }

    private func requireNotOver(_ reference: JobReference) throws(ControlFault) {
        guard !jobs.values.contains(where: { $0.isMeant(by: reference) }) else {
            throw ControlFault("it is over", hint: "in a moment it is in done/ or failed/")
        }
    }
}

extension ActiveJob {
    /// Whether it has ended, and only that is still to be told.
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
    /// Whether it is; what its producer calls it is known when it is taken up.
    fileprivate func isMeant(by reference: JobReference) -> Bool {
        switch reference.subject {
        case .name: reference.names.contains(claimed.name)
        case .id(let id): claimed.id == id
        case .ref: false
        }
    }
}

extension ControlAnswer {
    /// The same answer about an app.
    func about(_ app: String) -> ControlAnswer {
        var copy = self
        copy.app = app
        return copy
    }
}
