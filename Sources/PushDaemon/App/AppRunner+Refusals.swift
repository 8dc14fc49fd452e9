import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

/// A file in `new/` that can never be sent and is still there: its line comes first.
struct PendingRefusal {
    let seen: SeenFile
    let report: JobReport
    let place: ArchivePlace
    let result: [UInt8]
}

extension AppRunner {
    /// Chooses where what can never be sent goes in `failed/`, as it is, and writes its line.
    func refuse(_ name: FileName, _ code: ResultCode, why: String?) {
        do {
            guard let seen = try spool.look(name) else { return intake.answer(name, .gone, at: .now) }
            // It could not be moved when its line was out.
            if let told = stuckRefusals[name], told.seen == seen { return refusals.append(told) }
            let identity = JobIdentity(name: name, id: .random())
            let place = try spool.place(for: name, in: .failed, at: .now, withResult: true)
            var report = JobReport(identity, Conclusion(tally: Tally(), fault: code), notificationCount: 0, at: .now)
            report.droppedAt = min(WallTime(nanoseconds: seen.status.changedAt), .now)
            report.path = place.path(of: self.name)
            var result = ResultFile(report)
            result.why = why ?? seen.status.explanation(of: code)
            writer.appendJob(report, to: &lines)
            refusals.append(PendingRefusal(seen: seen, report: report, place: place, result: result.bytes))
        } catch {
            answerStuck(name, error)
        }
    }

    /// Publishes the lines of what is refused, then moves it: a crash in between repeats a line and loses none.
    func carryOutRefusals() async {
        guard !refusals.isEmpty else { return }
        await publishLines()
        // Not written: the next try of `runPublication` rings the intake's bell.
        guard lines.isEmpty else { return publishBell.ring() }
        let group = refusals
        refusals = []
        do {
            for refusal in group {
                let draft = ResultDraft(of: refusal.report.identity.id, refusal.result)
                try await files.archives.stage(draft, in: spool.work)
            }
        } catch {
            for refusal in group { noteStuck(refusal, error) }
            return
        }
        for refusal in group { carryOut(refusal) }
        do {
            try await files.archives.sync(spool.takeUnsyncedMoves())
        } catch {
            logger.error("archive cannot be synced", metadata: [LogKey.error: "\(error)"])
            space.note(failure: error)
        }
        retention.noteArchived()
    }

    private func noteStuck(_ refusal: PendingRefusal, _ error: SystemError) {
        stuckRefusals[refusal.seen.name] = refusal
        answerStuck(refusal.seen.name, error)
    }

    private func carryOut(_ refusal: PendingRefusal) {
        let (name, report) = (refusal.seen.name, refusal.report)
        stuckRefusals[name] = nil
        do {
            switch try spool.refuse(refusal.seen, id: report.identity.id, to: refusal.place, result: refusal.result) {
            case .moved:
                intake.answer(name, .moved, at: .now)
                around.meter.count { $0.noteEnd(report.conclusion, after: nil) }
                let code = report.conclusion.code?.rawValue ?? ""
                logger.warning("job failed", metadata: [LogKey.job: "\(name)", LogKey.code: "\(code)"])
            case .gone: intake.answer(name, .gone, at: .now)
            case .changed(let newName): intake.answer(name, .returned(newName), at: .now)
            case .forbidden:
                stuckRefusals[name] = refusal
                intake.answer(name, .stuck, at: .now)
            }
        } catch {
            noteStuck(refusal, error)
        }
    }
}

extension FileStatus {
    /// Why a file that was never opened failed, in words.
    fileprivate func explanation(of code: ResultCode) -> String {
        switch code {
        case .unreadable:
            "owner \(owner), mode 0\(String(mode & 0o7777, radix: 8)): the daemon may not read it; make it readable, then move it back to new/"
        case .incomplete where byteCount == 0: "the file is empty; write the whole file, then rename it into place"
        case .incomplete: "the file was never finished; write the whole file, then rename it into place"
        case .invalid, .refused, .expired, .unsent, .duplicate, .cancelled, .changed, .poison: code.rawValue
        }
    }
}
