import APNSModel
import GatewaySimulator
import LinuxIO
import PushModel

/// The report of the demo, as text for a terminal.
package struct DemoReport {
    let folder: DemoFolder
    let scenario: DemoScenario
    let outcome: DemoOutcome
    private let style = DemoStyle()
    /// The lines of the report, with a verdict at the end.
    package private(set) var lines: [String] = []

    /// Writes the report.
    ///
    /// - Parameters:
    ///   - folder: The demo's folder.
    ///   - scenario: What was shown.
    ///   - outcome: What became of them.
    ///   - faults: What differs from the expectation.
    package init(folder: DemoFolder, scenario: DemoScenario, outcome: DemoOutcome, faults: [String]) {
        (self.folder, self.scenario, self.outcome) = (folder, scenario, outcome)
        addJobs()
        addGateway()
        addFeedback()
        addTree()
        addVerdict(faults)
        addFurther()
    }

    private mutating func addJobs() {
        title("Jobs dropped into spool/<app>/new/, and their results")
        for app in scenario.apps {
            line("\(app) (\(app.about))")
            for job in jobs where job.app == app { add(job) }
        }
    }

    private mutating func add(_ job: DemoJob) {
        guard let found = outcome.jobs[job.name] else { return }
        let mark = found.state == "done" ? style.good("done  ") : style.bad("failed")
        let counts =
            found.notificationCount == 0 ? "" : "\(found.acceptedCount) of \(found.notificationCount) accepted"
        let code = found.code.map { "\($0)" } ?? ""
        let what = [code, counts].filter { !$0.isEmpty }.joined(separator: ", ")
        line("  \(mark) \(pad(job.name, 16)) \(pad(what, 25)) \(style.faint(job.about))")
        for remark in found.remarks { line("         \(cut(remark, 118))") }
    }

    private mutating func addGateway() {
        guard let ledger = outcome.ledger else { return }
        title("Received by the gateway (all notifications: gateway.jsonl)")
        line(
            "\(ledger.connectionCount) connections; \(ledger.acceptedCount) notifications accepted, \(ledger.refusedCount) refused,"
        )
        line(
            "\(ledger.discardedCount) discarded after a refusal or shutdown, and resent on the next connection"
        )
        if !ledger.tokenRequests.isEmpty {
            line(
                "\(ledger.tokenRequests.count) access tokens issued, each valid for a few seconds; renewed while sending"
            )
        }
        for entry in samples(of: ledger) {
            let channel = entry.request?["apns-channel-id"].map { "channel \($0)" }
            let place = entry.request?.topic ?? entry.request?[":path"] ?? ""
            let way = entry.request.map { "stream \($0.stream) \(place)" } ?? "no. \(entry.sequence)"
            let address = entry.request?.target.map { "\($0) \(entry.addressText.prefix(8))…" }
            let target = channel ?? address ?? "\(DeviceToken(bytes: entry.token))"
            line("connection \(entry.connection) \(way) to \(target) \(cut(entry.payloadText, 60))")
        }
    }

    /// The first notifications with distinct payloads, some of each protocol.
    private func samples(of ledger: Ledger) -> [Ledger.Entry] {
        var seen: Set<[UInt8]> = []
        let different = ledger.accepted.filter { seen.insert($0.payload).inserted }
        return Array(different.filter { $0.request != nil }.prefix(4))
            + different.filter { $0.request == nil }.prefix(2)
    }

    private mutating func addFeedback() {
        title(
            "Feedback, in spool/<app>/feedback/*.jsonl (\(outcome.lines.count) line\(outcome.lines.count == 1 ? "" : "s"))"
        )
        for part in scenario.feedbackSamples {
            guard let sample = outcome.lines.last(where: { $0.contains(part) }) else { continue }
            line(cut(redacted(sample), 230))
        }
    }

    private mutating func addTree() {
        title("The spool now")
        for app in scenario.apps {
            for state in ["done", "failed"] {
                let names = jobs.filter { $0.app == app && outcome.jobs[$0.name]?.state == state }.map(\.name)
                guard let day = outcome.jobs[names.first ?? ""]?.path.split(separator: "/").dropFirst(2).first else {
                    continue
                }
                line("\(app)/\(state)/\(day)/  \(names.joined(separator: "  "))")
            }
        }
        line(
            style.faint(
                "next to each job that was not fully accepted: <name>.result.json; new/, tmp/, work/ and hold/ are empty"
            ))
    }

    private mutating func addVerdict(_ faults: [String]) {
        title("Verdict")
        let good = jobs.reduce(0) { $0 + $1.acceptedCount }
        let seconds =
            Double(outcome.duration.components.seconds) + Double(outcome.duration.components.attoseconds) / 1e18
        if faults.isEmpty {
            let rounded = Double(Int(seconds * 10)) / 10
            line(
                style.good("Passed") + ": all \(jobs.count) jobs ended as expected in \(rounded) s, and")
            line("each of \(good) good notifications was accepted exactly once.")
        }
        for fault in faults { line(style.bad("failed: ") + fault) }
    }

    private mutating func addFurther() {
        title("Explore (nothing is running any more; to clean up: rm -r \(folder.path))")
        line("cd \(folder.path)")
        line("cat spool/\(scenario.resultFile)")
        line("cat spool/*/feedback/*.jsonl")
        line("less daemon.log")
        line("cat etc/pushspool.yaml etc/apps/*.yaml")
    }

    // MARK: Parts

    private var jobs: [DemoJob] { scenario.jobs }

    private mutating func title(_ text: String) {
        lines.append("\n" + style.title(text))
    }

    private mutating func line(_ text: String) {
        lines.append("  " + text)
    }

    private func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private func cut(_ text: String, _ width: Int) -> String {
        text.count <= width ? text : text.prefix(width - 1) + "…"
    }

    /// Shortens the token in a feedback line, as a log would.
    private func redacted(_ line: String) -> String {
        guard let range = line.firstRange(of: "\"token\":\"") else { return line }
        let token = line[range.upperBound...].prefix { $0 != "\"" }
        return line[..<range.upperBound] + token.prefix(8) + "…" + line[token.endIndex...]
    }
}

/// Terminal colors, if the output is a terminal.
struct DemoStyle {
    private let isColoured = StandardStream.output.isTerminal

    func title(_ text: String) -> String { wrap(text, "1") }
    func good(_ text: String) -> String { wrap(text, "32") }
    func bad(_ text: String) -> String { wrap(text, "31") }
    func faint(_ text: String) -> String { wrap(text, "2") }

    private func wrap(_ text: String, _ code: String) -> String {
        isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
