import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

// Jobs that an operator ends.
extension AppRunner {
    /// Ends a job under way: what is on a connection gets its outcome, and what is left has this one, for good.
    ///
    /// The rest of the file is still read, to tell those outcomes one by one.
    ///
    /// - Throws: `ControlFault`: it is over, or on its way to that.
    func end(_ job: ActiveJob, _ code: ResultCode) async throws(ControlFault) -> ControlAnswer {
        switch job.machine.state {
        case .sending: break
        case .draining: throw ControlFault("it is being held", hint: "end it when it is in hold/")
        case .stopping: throw ControlFault("it is being ended", hint: nil)
        case .held, .settled, .published, .archived: throw ControlFault("it is over", hint: nil)
        }
        guard job.ending == nil else { throw ControlFault("its time is up, and it is being ended", hint: nil) }
        let id = job.claimed.id
        let outcome = Outcome.withdrawn(code)
        job.ending = outcome
        let back = await takeBack(id) + freed.remove(id)
        withdraw(job, code, outcome)
        // Whatever became of the job meanwhile, nobody else has them.
        let awaited = back.filter { job.machine.isAwaiting($0.indices) }
        guard await settle(takenBack: awaited, of: id, outcome) else {
            throw ControlFault("the app ends", hint: "ask again when it has started anew")
        }
        guard job.isWithdrawn else { throw ControlFault("it came to its end before", hint: nil) }
        journal.write()
        guard await journal.sync() else { throw ControlFault("the journal cannot be written", hint: "see the log") }
        return answer(on: job, code)
    }

    /// Has a job end that is being sent: what was not read yet has this outcome, and is read to be told.
    func withdraw(_ job: ActiveJob, _ code: ResultCode, _ outcome: Outcome) {
        guard case .sending = job.machine.state else { return }
        let id = job.claimed.id
        job.ending = outcome
        job.isWithdrawn = true
        endings.insert(id)
        handle(.stopped(code), id)
        endUnread(job, outcome)
    }

    /// Gives what was not read yet its outcome; reading on tells it.
    private func endUnread(_ job: ActiveJob, _ outcome: Outcome) {
        let id = job.claimed.id
        var unread = IndexRuns(job.machine.remaining.intersection(job.unread))
        // What an earlier run has left in doubt is told to be so when it is read.
        for run in job.resumption?.doubtful.runs ?? [] { unread.subtract(run) }
        guard !unread.isEmpty else { return }
        let result = JournalResult(outcome, unread.runs, at: .now)
        let before = job.resumption
        job.resumption = Resumption(
            doubtful: before?.doubtful ?? IndexRuns(), untold: (before?.untold ?? []) + [result], final: nil,
            isAbridged: before?.isAbridged == true)
        journal.record(.result(id, result))
        // What is published before all of it is told must not say that it is.
        firstTold = around.journal.position
        around.meter.count { $0.note(outcome, count: unread.count) }
        for run in unread.runs {
            job.note(run, outcome)
            handle(.settled(run, outcome), id)
        }
    }

    /// Ends what has come back from connections of jobs that are ended: it would pause, or be sent again.
    func proceedWithEndings() async {
        for id in endings.sorted(by: { $0.bits < $1.bits }) {
            let back = await takeBack(id) + freed.remove(id)
            if let ending = jobs[id]?.ending { await settle(takenBack: back, of: id, ending) }
            if jobs[id]?.machine.isOver ?? true { endings.remove(id) }
        }
        journal.write()
    }

    private func answer(on job: ActiveJob, _ code: ResultCode) -> ControlAnswer {
        let (tally, count) = (job.machine.tally, job.summary.recipientCount)
        let ended = code == .expired ? tally.expired : tally.unsent
        let (flying, word) = (job.machine.remaining.count, code == .expired ? "expired" : "unsent")
        let rest = flying > 0 ? ", \(flying) still get their outcome" : ""
        logger.notice(
            "job ended by an operator",
            metadata: [
                LogKey.job: "\(job.claimed.name)", LogKey.id: "\(job.claimed.id)", LogKey.code: "\(code.rawValue)",
                LogKey.count: "\(ended)",
            ])
        return ControlAnswer(.done, "\(code.rawValue): \(tally.accepted) of \(count) accepted, \(ended) \(word)\(rest)")
    }

    // MARK: Files that are not under way

    /// Ends what is left of a file in `hold/`.
    ///
    /// - Parameters:
    ///   - file: The file there.
    ///   - name: The name that it was dropped by, as far as anybody knows.
    ///   - code: Why.
    /// - Returns: What came of it.
    /// - Throws: `SystemError`: it is in `hold/`.
    func withdraw(_ file: SeenFile, _ name: FileName, _ code: ResultCode) async throws(SystemError) -> ControlAnswer {
        let withdrawal = try desk.withdrawal(of: file, name, code)
        let id = withdrawal.report.identity.id
        writer.appendJob(withdrawal.report, to: &lines)
        withdrawals.append(withdrawal)
        publishBell.ring()
        // The first may be one that had begun before the line was there.
        for _ in 0..<2 where isWithdrawing(id) { await publishLines() }
        guard !isWithdrawing(id) else {
            return ControlAnswer(
                .begun, "parked in hold/, and goes to failed/ as soon as its line can be written", hint: "see the log"
            ).about(self.name, name, id)
        }
        return withdrawal.answer.about(self.name, name, id)
    }

    private func count(_ withdrawal: Withdrawal) {
        let conclusion = withdrawal.report.conclusion
        around.meter.count {
            if let code = conclusion.code, withdrawal.endedCount > 0 {
                $0.note(.withdrawn(code), count: withdrawal.endedCount)
            }
            $0.noteEnd(conclusion, after: nil)
        }
    }

    private func isWithdrawing(_ id: JobID) -> Bool {
        withdrawals.contains { $0.report.identity.id == id }
    }

    /// Moves files whose lines are out.
    func carryOutWithdrawals(_ group: [Withdrawal]) {
        for withdrawal in group where isWithdrawing(withdrawal.report.identity.id) {
            let (id, code) = (withdrawal.report.identity.id, withdrawal.report.conclusion.code?.rawValue ?? "")
            do throws(SystemError) {
                let place = try desk.carryOut(withdrawal)
                withdrawals.removeAll { $0.report.identity.id == id }
                count(withdrawal)
                logger.notice(
                    "job failed",
                    metadata: [
                        LogKey.job: "\(withdrawal.report.identity.name)", LogKey.code: "\(code)",
                        LogKey.path: "\(self.name)/\(place?.path ?? "")",
                    ])
            } catch {
                space.note(failure: error)
                logger.error(
                    "job cannot be archived",
                    metadata: [LogKey.job: "\(withdrawal.file.name)", LogKey.error: "\(error)"])
            }
        }
    }
}
