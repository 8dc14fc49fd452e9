import APNSModel
import LinuxIO
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
        guard isSpeaking, let status = facts.status else { return book.findings }
        if facts.isLocked != false { noteControl(of: status, in: &book) }
        return book.findings + status.apps.filter { wanted.isEmpty || wanted.contains($0.name) }.flatMap(findings(of:))
    }

    /// Whether the status file was written within the last two status intervals.
    private var isSpeaking: Bool {
        facts.status.map { facts.now - $0.writtenAt <= SpoolStatus.interval * 2 } ?? false
    }

    private func noteJournal(in book: inout FindingBook) {
        switch facts.journal {
        case .missing: book.ok("node \(facts.node) has no journal yet: the daemon makes it when it starts")
        case .unreadable(let error):
            book.fault(
                "the journal of node \(facts.node) cannot be read: \(error)",
                hint: "run the doctor as the daemon's user; if it is that, look after the disk")
        case .damaged:
            book.fault(
                "the journal of node \(facts.node) is damaged on its first page, or of another version",
                hint: "start the version that wrote it; or move it away: then jobs in work/ are sent again whole")
        case .whole(facts.node, let byteCount):
            book.ok("the journal of node \(facts.node) has \(byteCount >> 20) MiB")
        case .whole(let owner, _):
            book.fault(
                "the journal of node \(facts.node) belongs to node \(owner)",
                hint: "give the daemon that name with `node:`, or put the journal back where it was")
        }
    }

    private func noteStatus(in book: inout FindingBook) {
        if let fault = facts.statusFault {
            book.warn(
                "what the daemon of node \(facts.node) says of itself cannot be read: \(fault)",
                hint: "use the pushspool that the daemon is of, as its user")
        }
        guard let status = facts.status else {
            if facts.statusFault != nil { return }
            if facts.isLocked == true {
                return book.warn(
                    "a daemon has the journal of node \(facts.node), and says nothing of itself",
                    hint: "wait if it has just been started; else see its log, and whether its disk answers")
            }
            let message = "no daemon runs as node \(facts.node)"
            let hint = "start one: pushspool run --config \(ShellWord.spelled(path))"
            // Without a journal the daemon was never started, so that it does not run is only a warning.
            return facts.journal == .missing ? book.warn(message, hint: hint) : book.fault(message, hint: hint)
        }
        let age = (facts.now - status.writtenAt).components.seconds
        switch (isSpeaking, facts.isLocked) {
        case (true, true?), (true, nil):
            book.ok("process \(status.processID) runs as node \(status.node), and said so \(max(0, age)) s ago")
        case (true, false?):
            book.fault(
                "process \(status.processID) has ended without a word", hint: "see the log for why, and start it again")
        case (false, true?):
            book.fault(
                "process \(status.processID) has said nothing for \(age) s, and still has the journal",
                hint: "its disk does not answer, or it is stopped: see its log and the kernel's")
        case (false, false?), (false, nil):
            book.fault(
                "no daemon runs as node \(facts.node): the last one said something \(age) s ago, and did not end well",
                hint: "see its log for why, and start one: pushspool run --config \(ShellWord.spelled(path))")
        }
    }

    private func noteControl(of status: SpoolStatus, in book: inout FindingBook) {
        guard let control = facts.control else { return }
        switch control.state {
        case .answered: book.ok("operators' commands are heard at \(control.path)")
        case .silent:
            book.warn(
                "process \(status.processID) runs, and nobody answers at its control socket \(control.path)",
                hint: "see its log for why it hears no commands; make that folder for its user, and restart it")
        case .unreachable(let error):
            book.warn(
                "the control socket \(control.path) cannot be reached: \(error)",
                hint: "act as the daemon's user, or as one of the group in control.group")
        }
    }

    private func findings(of app: SpoolStatus.App) -> [DoctorFinding] {
        var book = FindingBook(.daemon, of: app.name)
        // The reason ends with the remedy, if there is one.
        let reason = app.reason ?? "see the log for the reason"
        switch app.state {
        case .idle: book.ok("is at work, with no job under way")
        case .sending, .connecting: book.ok("is at work, jobs under way: \(app.jobCount)")
        case .unreachable, .refused: book.fault(reason, hint: "jobs wait; it is tried again")
        case .stopped:
            book.fault(reason, hint: "mend that; HUP, or a change of its file or credentials, has it ask again")
        case .paused:
            book.warn("is paused: nothing is taken or sent", hint: "pushspool resume \(ShellWord.spelled(app.name))")
        case .asking: book.warn("asks its gateway whether it is taken again", hint: reason)
        case .full: book.fault("takes no jobs: its volume is nearly full", hint: "make room, old archives first")
        case .stuck: book.fault("is stuck: its filesystem does not answer", hint: "look after the server or disk")
        case .starting: book.warn("has not started", hint: "wait a moment; else see the log for why")
        case .ending, .broken, .unconfigured: break
        }
        return book.findings
    }
}
