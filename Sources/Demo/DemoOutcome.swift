import Document
import GatewaySimulator
import JSON
import SpoolClient

/// The results of the demo in the spool and at the gateway, read through the public interfaces.
package struct DemoOutcome {
    /// The end of one job, according to its `job` line and its result file.
    struct Job {
        let state: String
        let code: String?
        let path: String
        let notificationCount: Int
        let acceptedCount: Int
        let rejectedCount: Int
        /// Faults with their places, and the gateway's refusals.
        var remarks: [String] = []
        /// Whether the file is in the archive.
        var isArchived = false
    }

    private let wanted: [String]
    private let wantedGoneCount: Int
    private(set) var jobs: [String: Job] = [:]
    /// All feedback lines in order.
    private(set) var lines: [String] = []
    /// The number of lines about tokens that the feedback service reported.
    private(set) var goneCount = 0
    var ledger: Ledger?
    var duration = Duration.zero

    /// Creates results with the names of the expected jobs.
    init(wanted: [String], goneCount: Int = 0, jobs: [String: Job] = [:], ledger: Ledger? = nil) {
        (self.wanted, wantedGoneCount) = (wanted, goneCount)
        self.jobs = jobs
        self.ledger = ledger
    }

    /// Whether all expected results are there.
    var isComplete: Bool { missing.isEmpty }

    /// The results that are still missing.
    var missing: [String] {
        wanted.filter { jobs[$0]?.isArchived != true }
            + (goneCount < wantedGoneCount ? ["lines from the feedback service"] : [])
    }

    /// Reads the feedback, and the result files next to the jobs.
    ///
    /// - Throws: `SpoolClientError` if the spool cannot be read, `Diagnostic` if a line is not valid JSON.
    static func read(_ folder: DemoFolder, _ wanted: [DemoJob], of scenario: DemoScenario) throws -> DemoOutcome {
        var outcome = DemoOutcome(wanted: wanted.map(\.name), goneCount: scenario.goneCount)
        for app in scenario.apps {
            let reader = try FeedbackReader(app: app.rawValue, spool: folder.spool)
            for file in try reader.files() {
                try reader.forEachLine(of: file) { try outcome.record($0) }
            }
            let locator = try JobLocator(app: app.rawValue, spool: folder.spool)
            for job in wanted where job.app == app {
                switch try locator.place(of: job.name) {
                case .done(_, let result), .failed(_, let result): try outcome.record(result, of: job.name)
                case .waiting, .held, nil: break
                }
            }
        }
        return outcome
    }

    private mutating func record(_ line: String) throws {
        lines.append(line)
        var parser = JSON.Parser()
        let node = try parser.parse(Array(line.utf8)).root
        switch node["kind"]?.text {
        case "job": jobs[node["job"]?.text ?? ""] = Job(node)
        case "token": goneCount += 1
        case "notification":
            let status = node["status"].map { "status \($0.text) " } ?? ""
            guard !status.isEmpty else { return }
            remarks[node["job"]?.text ?? "", default: []].append(
                "index \(node["index"]?.text ?? "?"): the gateway answered \(status)\(node["reason"]?.text ?? "")")
        default: return
        }
    }

    private var remarks: [String: [String]] = [:]

    private mutating func record(_ result: [UInt8]?, of name: String) throws {
        guard var job = jobs[name] else { return }
        job.isArchived = true
        if let result {
            var parser = JSON.Parser()
            let root = try parser.parse(result).root
            job.remarks += (root["diagnostics"]?.elements.map { $0 } ?? []).map(Self.text)
            if job.remarks.isEmpty, let why = root["why"]?.text { job.remarks.append(why) }
        }
        job.remarks += remarks[name] ?? []
        jobs[name] = job
    }

    private static func text(of diagnostic: Node) -> String {
        var text = "\(diagnostic["line"]?.text ?? "?"):\(diagnostic["column"]?.text ?? "?"): "
        if let path = diagnostic["path"]?.text, !path.isEmpty { text += path + ": " }
        text += diagnostic["message"]?.text ?? ""
        if let hint = diagnostic["hint"]?.text { text += " (hint: \(hint))" }
        return text
    }
}

extension DemoOutcome.Job {
    /// Creates the end of a job from its `job` line.
    init(_ line: Node) {
        state = line["state"]?.text ?? ""
        code = line["code"]?.text
        path = line["path"]?.text ?? ""
        notificationCount = line["notifications"]?.integer ?? 0
        acceptedCount = line["accepted"]?.integer ?? 0
        rejectedCount = line["rejected"]?.integer ?? 0
    }
}
