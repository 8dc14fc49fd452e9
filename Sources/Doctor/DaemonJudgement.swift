import PushModel
import SpoolModel

/// Evaluates the state of a daemon.
struct DaemonJudgement {
    /// The facts.
    let facts: DaemonFacts
    /// The path of the daemon's file, for hints.
    let path: String
    /// The apps to report on; empty: all.
    let wanted: Set<String>

    /// The findings.
    var findings: [DoctorFinding] {
        var book = FindingBook(.daemon)
        noteJournal(in: &book)
        noteStatus(in: &book)
        if facts.isLocked == true || isSpeaking && facts.isLocked == nil { noteControl(in: &book) }
        guard isSpeaking, let status = facts.status else { return book.findings }
        return book.findings + status.apps.filter { wanted.isEmpty || wanted.contains($0.name) }.flatMap(findings(of:))
    }

    /// Whether the status file was written within the last two status intervals.
    private var isSpeaking: Bool {
        facts.status.map { facts.now - $0.writtenAt <= SpoolStatus.interval * 2 } ?? false
    }

    private func noteJournal(in book: inout FindingBook) {
        switch facts.journal {
        case .missing: book.ok("node \(facts.node) has no journal yet: the daemon creates it when it starts")
        case .unreadable(let error):
            book.fault(
                "the journal of node \(facts.node) cannot be read: \(error)",
                hint: "run the doctor as the daemon's user; if you did, check the disk")
        case .damaged:
            book.fault(
                "the journal of node \(facts.node) is damaged on its first page, or from another version",
                hint: "start the version that wrote it, or move it away: jobs in work/ are then sent again in full")
        case .whole(facts.node, let byteCount):
            book.ok("the journal of node \(facts.node) is \(byteCount >> 20) MiB")
        case .whole(let owner, _):
            book.fault(
                "the journal of node \(facts.node) belongs to node \(owner)",
                hint: "put the journal back where it was, in .pushspool/\(owner)/")
        }
    }

    private func noteStatus(in book: inout FindingBook) {
        if let fault = facts.statusFault {
            book.warn(
                "the status of node \(facts.node) cannot be read: \(fault)",
                hint: "run the same version of pushspool as the daemon, as its user")
        }
        guard let status = facts.status else {
            if facts.statusFault != nil { return }
            if facts.isLocked == true {
                return book.warn(
                    "a daemon has locked the journal of node \(facts.node), but writes no status",
                    hint:
                        "wait ten seconds if it has just started or its folder was removed; otherwise see its log, and "
                        + "check its disk")
            }
            let message = "no daemon is running as node \(facts.node)"
            let hint = "start one: \(DaemonStart.command(for: path))"
            // Without a journal the daemon was never started, so that it does not run is only a warning.
            return facts.journal == .missing ? book.warn(message, hint: hint) : book.fault(message, hint: hint)
        }
        let age = (facts.now - status.writtenAt).components.seconds
        switch (isSpeaking, facts.isLocked) {
        case (true, true?), (true, nil):
            book.ok("process \(status.processID) is running as node \(status.node); its status is \(max(0, age)) s old")
        case (true, false?):
            book.fault(
                "process \(status.processID) ended without a clean shutdown", hint: "see the log, then start it again")
        case (false, true?):
            book.fault(
                "process \(status.processID) has written no status for \(age) s, but still has the journal locked",
                hint: "check whether its disk hangs or the process is suspended: see its log and the kernel's")
        case (false, false?), (false, nil):
            book.fault(
                "no daemon is running as node \(facts.node): the last one, seen \(age) s ago, shut down uncleanly",
                hint: "see its log for why, then start one: \(DaemonStart.command(for: path))")
        }
    }

    private func noteControl(in book: inout FindingBook) {
        guard let control = facts.control else { return }
        switch control.state {
        case .answered: book.ok("control socket answers at \(control.path)")
        case .silent:
            book.warn(
                "the daemon is running, but does not answer at its control socket \(control.path)",
                hint:
                    "it makes a removed socket again within ten seconds; otherwise see its log for why, and create that "
                    + "folder for its user")
        case .unreachable(let error):
            book.warn(
                "the control socket \(control.path) cannot be reached: \(error)",
                hint: "run as the daemon's user, or as a member of control.group")
        }
    }

    private func findings(of app: SpoolStatus.App) -> [DoctorFinding] {
        var book = FindingBook(.daemon, of: app.name)
        // The reason ends with the remedy, if there is one.
        let reason = app.reason ?? "see the log for the reason"
        switch app.state {
        case .idle: book.ok("is running, with no job under way")
        case .sending, .connecting: book.ok("is running, jobs under way: \(app.jobCount)")
        case .unreachable, .refused: book.fault(reason, hint: "jobs wait; pushspool keeps trying")
        case .stopped:
            book.fault(reason, hint: "fix the cause; to try again, change its file or credentials, or send HUP")
        case .paused:
            book.warn("is paused: nothing is claimed or sent", hint: "pushspool resume \(ShellWord.spelled(app.name))")
        case .asking: book.warn("is testing whether its gateway accepts it again", hint: reason)
        case .full:
            book.fault(
                app.reason ?? "claims no jobs: its volume is nearly full", hint: "free up space, old archives first")
        case .stuck: book.fault("is stuck: its filesystem does not respond", hint: "check its disk or file server")
        case .starting: book.warn("has not started", hint: "wait a moment, then see the log for why")
        case .unconfigured where app.jobCount > 0: book.fault(reason, hint: "its jobs under way: \(app.jobCount)")
        case .ending, .broken, .unconfigured: break
        }
        note(feedbackOf: app, in: &book)
        return book.findings
    }

    /// How old feedback may be before it is reported.
    private static let feedbackAge = Duration.seconds(7 * 86_400)

    private func note(feedbackOf app: SpoolStatus.App, in book: inout FindingBook) {
        if let trouble = app.hookTrouble {
            book.warn(
                "its hook has taken no feedback since \(trouble.since.rfc3339): \(trouble.error)",
                hint: "see the hook's output in the log; feedback waits, and retention deletes it in the end")
        }
        guard let unread = app.unreadFeedback, facts.now - unread.oldest > Self.feedbackAge else { return }
        book.warn(
            "feedback is unread since \(unread.oldest.rfc3339), \(unread.count) files",
            hint: "process and remove the files in feedback/; archive.keep_feedback says when they are deleted")
    }
}
