import APNSModel
import Document
import Foundation
import JobFormat
import JournalModel
import PushModel
import SpoolModel
import Testing

/// The files that the daemon writes for others: pushspool-feedback(5), pushspool-status(5) and the program know the
/// same members and words.
struct FilePageTests {
    /// A part of a page, and what the program writes there.
    struct Part: Sendable, CustomTestStringConvertible {
        let page: String
        let heading: String
        let words: Set<String>

        var testDescription: String { "\(page): \(heading)" }

        init(_ page: String, _ heading: String, _ words: some Sequence<String>) {
            (self.page, self.heading, self.words) = ("pushspool-\(page).5", heading, Set(words))
        }
    }

    @Test(arguments: try parts())
    func `a page has every member and word of the program, and no other`(part: Part) throws {
        let told = Set(try Self.words(part.page, under: part.heading))
        #expect(part.words.subtracting(told) == [])
        #expect(told.subtracting(part.words) == [])
        #expect(!told.isEmpty)
    }

    @Test func `the examples of feedback have no member that the program does not write`() throws {
        let blocks = try Self.blocks("pushspool-feedback.5").filter { $0.hasPrefix("{") }
        let lines = blocks[0].split(separator: "\n").map(String.init)
        for line in lines {
            let example = try Self.members(Array(line.utf8))
            let kind = try #require(try Self.object(Array(line.utf8))["kind"] as? String)
            #expect(example.subtracting(try Self.line(kind)) == [], "\(kind)")
        }
        #expect(lines.count == 3)
        let result = try Self.members(Array(blocks[1].utf8))
        #expect(result.subtracting(try Self.members(Self.resultFile)) == [])
    }

    @Test func `the example of a status is one that the program reads`() throws {
        let example = try #require(try Self.blocks("pushspool-status.5").first)
        let told = try Self.object(Array(example.utf8))
        #expect(try Set(told.keys) == Self.members(Self.status))
        let apps = try #require(told["apps"] as? [[String: Any]])
        let states = Set(SpoolStatus.AppState.allCases.map(\.rawValue))
        #expect(apps.count == 2 && apps.allSatisfy { states.contains($0["state"] as? String ?? "") })
    }

    @Test func `the README and pushspool(1) name every page, and no page refers to one that is not there`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Manual.root.appending(path: "etc/man").path)
        let (readme, program) = (try Manual.text("README.md"), try Manual.page("pushspool.1"))
        for name in names {
            #expect(readme.contains("man -l etc/man/\(name)"), "\(name)")
            let title = "\(name.dropLast(2)) (\(name.suffix(1)))"
            #expect(name == "pushspool.1" || program.contains(".BR \(title)"), "\(name)")
            for reference in try Manual.page(name).matches(of: #/\.BR (pushspool[a-z.-]*) \((\d)\)/#) {
                let other = "\(reference.output.1).\(reference.output.2)"
                #expect(names.contains(other), "\(name) refers to \(other)")
            }
        }
        #expect(names.count >= 8)
    }

    // MARK: The pages

    /// What is bold in the first lines of a part's entries.
    private static func words(_ page: String, under heading: String) throws -> [String] {
        let behind = try #require(try Manual.page(page).components(separatedBy: "\n\(heading)\n").dropFirst().first)
        let part = behind.components(separatedBy: "\n.S")[0]
        return part.components(separatedBy: ".TP\n").dropFirst().flatMap { entry in
            entry.prefix { $0 != "\n" }.matches(of: #/\\fB(.*?)\\fR/#).map { String($0.output.1) }
        }
    }

    /// The examples of a page.
    private static func blocks(_ page: String) throws -> [String] {
        try Manual.page(page).components(separatedBy: "\n.nf\n").dropFirst().map {
            $0.components(separatedBy: "\n.fi")[0]
        }
    }

    // MARK: The program

    static func parts() throws -> [Part] {
        let every: Set<String> = ["v", "kind", "app", "node"]
        let daemon = try object(status)
        let app = try #require((daemon["apps"] as? [[String: Any]])?.first)
        let job = try #require((app["progress"] as? [[String: Any]])?.first)
        let credentials = try #require(app["credentials"] as? [String: Any])
        let result = try object(resultFile)
        let finding = try #require((result["diagnostics"] as? [[String: Any]])?.first)
        return [
            Part("feedback", ".SH EVERY LINE", every),
            Part("feedback", ".SH JOB LINES", try line("job").subtracting(every)),
            Part("feedback", ".SH NOTIFICATION LINES", try line("notification").subtracting(every)),
            Part("feedback", ".SH TOKEN LINES", try line("token").subtracting(every)),
            Part("feedback", ".SH OUTCOMES", outcomes.map(\.kind.rawValue)),
            Part("feedback", ".SH VERDICTS", Verdict.allCases.map(\.rawValue)),
            Part("feedback", ".SH CODES", ResultCode.allCases.map(\.rawValue)),
            Part("feedback", ".SH RESULT FILES", result.keys),
            Part("feedback", ".SS Diagnostics", finding.keys),
            Part("status", ".SH THE DAEMON", daemon.keys),
            Part("status", ".SH APPS", app.keys),
            Part("status", ".SH CREDENTIALS", credentials.keys),
            Part("status", ".SH JOBS", job.keys),
            Part("status", ".SH THE LIST OF APPS", try appList),
            Part("status", ".SH STATES", SpoolStatus.AppState.allCases.map(\.rawValue)),
        ]
    }

    private static let time = WallTime(epochSeconds: 1_795_310_400)
    private static let refusal = {
        var refusal = Refusal(status: 410, reason: "Unregistered", verdict: .gone, goneSince: time)
        refusal.detail = "Unknown name"
        return refusal
    }()
    private static let outcomes: [Outcome] = [.accepted, .rejected(refusal), .expired, .unsent(refusal), .unknown]

    /// The report of a job that has everything that a job can have.
    private static func report() throws -> JobReport {
        let identity = JobIdentity(name: try #require(FileName("a.json")), id: JobID(bits: 1), ref: "mine")
        var report = JobReport(
            identity, Conclusion(tally: Tally(), fault: .incomplete), notificationCount: 1, at: time)
        (report.claimedAt, report.isKnownComplete, report.unreadByteCount) = (time, false, 1)
        report.earlier = SentTwin(id: JobID(bits: 2), endedAt: time)
        report.uniqueIDs = [0: "1-2-3"]
        return report
    }

    /// The members of a line of this kind that has all that there can be.
    private static func line(_ kind: String) throws -> Set<String> {
        let writer = FeedbackLine(app: "weather", node: "host-a")
        var bytes: [UInt8] = []
        switch kind {
        case "job": writer.appendJob(try report(), to: &bytes)
        case "notification":
            return try Address.Kind.allCases.reduce(into: []) {
                var attributes = Attributes()
                attributes.addressKind = $1
                $0.formUnion(try members(notification(attributes, by: writer)))
            }
        default: writer.appendToken(DeviceToken(bytes: [0xAB]), goneSince: time, to: &bytes)
        }
        return try members(bytes)
    }

    private static func notification(_ attributes: Attributes, by writer: FeedbackLine) throws -> [UInt8] {
        var tokens = PackedBytes()
        tokens.append([0x41] as [UInt8])
        let header = Batch.Header(job: JobID(bits: 1), attributes: attributes)
        let batch = Batch(header: header, firstIndex: 0, addresses: tokens, payloads: .shared(Payload(bytes: [])))
        var bytes: [UInt8] = []
        var settlement = Settlement(batch, .rejected(refusal))
        settlement.add(uniqueIDs: [JobID(bits: 1): [0: "1-2-3"]])
        writer.appendNotifications(settlement, of: try report().identity, at: time, to: &bytes)
        return bytes
    }

    private static var resultFile: [UInt8] {
        get throws {
            var result = ResultFile(try report())
            let fault = Diagnostic("wrong", hint: "mend it", at: Place(line: 1, column: 1)).about("token")
            result.findings.add(fault)
            (result.why, result.isAbridged) = ("it was cut", true)
            let runs = IndexRuns(0..<1)
            result.runs = [.rejected: runs, .expired: runs, .unsent: runs, .unknown: runs]
            return result.bytes
        }
    }

    private static var status: [UInt8] {
        var job = SpoolStatus.Job(name: "a.json", id: JobID(bits: 1), count: 2, settledCount: 1)
        job.reason = "refused"
        (job.rate, job.remaining) = (1, .seconds(1))
        var app = SpoolStatus.App(name: "weather", state: .stuck)
        (app.gateway, app.reason, app.since, app.until) = ("localhost:1", "waits", time, time)
        app.answeredAt = time
        app.ignoredCount = 1
        app.hookTrouble = .init(since: time, failureCount: 1, error: "exited with status 1")
        app.unreadFeedback = .init(count: 1, oldest: time)
        app.progress = [job]
        var credentials = SpoolStatus.Credentials(kind: .certificate)
        (credentials.topics, credentials.notAfter, credentials.daysLeft) = (["com.example.weather"], time, 1)
        app.credentials = credentials
        var status = SpoolStatus(node: "host-a", processID: 1, startedAt: time, writtenAt: time)
        status.cluster = SpoolStatus.Cluster(nodes: ["host-a", "host-b"], standsInFor: ["host-b"], mayAct: true)
        status.left = [.init(node: "host-c", jobCount: 2, .noJournal)]
        status.apps = [app]
        return status.json
    }

    /// The members of the list of apps and of an app in it, but for version and node, which every file has.
    private static var appList: Set<String> {
        get throws {
            var app = AppList.App(name: "weather", carrier: .http2)
            (app.topic, app.identity) = ("com.example.weather", .certificate(topics: ["com.example.weather"]))
            app.digest = "56cd3ed40f7d9078"
            app.toleratesUnknownFields = true
            app.channels = ["match-7": BroadcastChannel(id: try #require(ChannelID("YWI=")), policy: .latest)]
            var list = AppList(node: "host-a", limits: DocumentLimits())
            (list.isShared, list.mark) = (true, 1)
            list.apps = [app]
            let object = try object(list.json)
            let first = try #require((object["apps"] as? [[String: Any]])?.first)
            return Set(object.keys).union(first.keys).subtracting(["v", "node"])
        }
    }

    private static func members(_ bytes: [UInt8]) throws -> Set<String> {
        Set(try object(bytes).keys)
    }

    private static func object(_ bytes: [UInt8]) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }
}
