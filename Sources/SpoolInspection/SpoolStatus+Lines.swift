import Configuration
package import PushModel
import ServiceProcess
package import SpoolModel

extension SpoolStatus {
    /// Returns the status with only these apps; unchanged if none are named.
    package func limited(to names: [String]) -> SpoolStatus {
        guard !names.isEmpty else { return self }
        var status = self
        status.apps.removeAll { !names.contains($0.name) }
        return status
    }

    /// The status as one line, for the nodes of a cluster besides the one that was asked for.
    package var line: String {
        let jobCount = apps.reduce(0) { $0 + $1.jobCount }
        return "node \(node), process \(processID), \(isStopping ? "stopping" : "running"), "
            + "started \(startedAt.rfc3339): \(jobCount.of("job")) under way" + standInWords
    }

    private var clusterLines: [String] {
        guard let cluster else { return [] }
        let pause = cluster.mayAct ? "" : "; its lease has run out: it sends nothing until the file server answers"
        return ["cluster of \(cluster.nodes.joined(separator: ", "))\(standInWords)\(pause)"]
    }

    private var leftLines: [String] {
        left.map { node in
            guard let reason = node.reason else {
                return "finishes the jobs of node \(node.node): \(node.jobCount.of("job"))"
            }
            let hint = node.hint.map { "; hint: \($0)" } ?? ""
            return
                "\(node.jobCount.of("job")) of node \(node.node) \(node.jobCount == 1 ? "waits" : "wait"): \(reason)\(hint)"
        }
    }

    private var standInWords: String {
        guard let names = cluster?.standsInFor, !names.isEmpty else { return "" }
        return "; finishes the jobs of \(names.joined(separator: ", "))"
    }

    /// The status as lines of text.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - isDead: Whether the daemon has ended without a clean shutdown.
    /// - Returns: The lines, with a table of the apps.
    package func lines(at now: WallTime, isDead: Bool) -> [String] {
        let doing = isDead ? "dead" : isStopping ? "stopping" : "running"
        let head = "node \(node), process \(processID), \(doing), started \(startedAt.rfc3339)"
        let rows = apps.map { app in
            let since = app.since.map { "  for \((now - $0).inSeconds)" } ?? ""
            let until = app.until.map { "  until \($0.rfc3339)" } ?? ""
            let answer = app.silence(at: now).map { "  last answer \($0.inSeconds) ago" } ?? ""
            return [app.name, app.state.rawValue, "\(app.jobCount)", (app.gateway ?? "") + since + until + answer]
        }
        let table = Table(header: ["app", "state", "jobs", "gateway"], rows: rows, rightAligned: [2]).lines
        let warnings = apps.compactMap { app in app.expiry(at: now).map { "\($0); see pushspool check" } }
        let faults = apps.compactMap(\.waitReason)
        let feedback = apps.flatMap { $0.feedbackLines(at: now) }
        let ignored = apps.filter { $0.ignoredCount > 0 }.map { app in
            "\(app.name): \(app.ignoredCount.of("file")) in new/ ignored; see pushspool doctor"
        }
        let jobs = apps.flatMap { app in app.progress.map { "\(app.name)/\($0.name)  \($0.inWords)" } }
        return [head] + clusterLines + leftLines + table + faults + feedback + ignored + warnings + jobs
    }
}

extension SpoolStatus.App {
    /// The reason why the app waits or does not start, if it has one: `weather waits for room in the journal: …`.
    package var waitReason: String? { reason.map { "\(name) \(state == .starting ? "cannot start: " : "")\($0)" } }

    /// How old feedback must be to be shown: most consumers take it sooner.
    private static let feedbackAge = Duration.seconds(3600)

    /// What is wrong with the app's hook, and how much feedback has waited for long.
    func feedbackLines(at now: WallTime) -> [String] {
        var lines: [String] = []
        if let trouble = hookTrouble {
            let times = trouble.failureCount == 0 ? "" : " (\(trouble.failureCount.of("failure")))"
            lines.append(
                "\(name): its hook has taken no feedback for \((now - trouble.since).inSeconds)\(times): "
                    + "\(trouble.error); see the log")
        }
        if let unread = unreadFeedback, now - unread.oldest >= Self.feedbackAge {
            lines.append(
                "\(name): \(unread.count.of("feedback file")) unread, the oldest since \(unread.oldest.rfc3339); "
                    + "process and remove them")
        }
        return lines
    }

    /// The time since the gateway's last answer, if jobs are under way and it is longer than 10 s.
    func silence(at now: WallTime) -> Duration? {
        guard state == .sending, !progress.isEmpty, let answeredAt, now - answeredAt > .seconds(10) else { return nil }
        return now - answeredAt
    }

    /// The warning about the app's certificate, if at most 30 days are left: `weather: certificate expires on …`.
    func expiry(at now: WallTime) -> String? {
        guard let notAfter = credentials?.notAfter else { return nil }
        return CertificateExpiry.words(of: notAfter, at: now).map { "\(name): certificate \($0)" }
    }
}

extension Duration {
    /// The text `42 s`.
    package var inSeconds: String { "\(components.seconds) s" }
}
