import Configuration
import Foundation
import JobOperations
import JournalModel
import LinuxIO
import Logging
import OpenSSL
import PushModel
import SpoolModel
import SpoolStore
import TestSupport
import Testing

@testable import AppEngine
@testable import Gateways
@testable import SharedResources

/// One app in this process, over a gateway that a test answers for.
struct Engine {
    let gateway: GatewayDouble
    let runner: AppRunner

    /// Runs the app of a home while `body` runs, and stops it. It continues the jobs of an earlier run.
    static func running(
        in home: Home, acceptsAll: Bool = false,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, _ body: (Engine) async throws -> Void
    ) async throws {
        let set = ConfigurationLoader(path: home.path + "/etc/pushspool.yaml").load()
        let app = try #require(set.apps["weather"], "\(set.findings)")
        let resources = try DaemonResources(set.daemon, logger)
        defer { resources.stop() }
        let gateway = GatewayDouble(on: resources.reactor, acceptsAll: acceptsAll)
        var descriptors = DescriptorShares(DescriptorBudget(limit: 1_024))
        var share = AppShare(
            files: resources.files, descriptors: try descriptors.admit("weather"), meter: AppMeter(), sent: SentJobs())
        share.makeGateway = { _, _, _, _ in gateway }
        let context = DaemonContext(resources, set.daemon, share)
        let left = resources.spool.replay.leftBehind["weather"] ?? LeftBehind()
        let runner = try await resources.files.open(app, in: context, left: left)
        try await withThrowingTaskGroup { group in
            group.addTask { await runner.run() }
            try await body(Engine(gateway: gateway, runner: runner))
            runner.stop()
            try await group.waitForAll()
        }
    }

    /// What a gateway says of a token that no device has any more.
    static let gone = Outcome.rejected(Refusal(status: 410, reason: "Unregistered", verdict: .gone))

    /// Waits until so many notifications wait at the gateway.
    func handed(_ count: Int) async throws {
        try await eventually("\(count) notifications") { await gateway.waitingIndices.count == count }
    }

    /// Lets the gateway write the next notifications, and gives them this outcome.
    func settle(_ count: Int, _ outcome: Outcome) async {
        await gateway.write(count)
        await gateway.settle(count, outcome)
    }

    /// Lets the app carry out a command about its job `a.json`.
    func carryOut(_ command: ControlRequest.Command) async throws -> ControlAnswer {
        let request = ControlRequest(command, job: "weather/a.json")
        let reference = try #require(request.reference)
        return try #require(await runner.carryOut(request, reference))
    }

    /// A configuration with one app, and its empty spool.
    struct Home {
        private let folder: TemporaryDirectory
        let path: String

        /// Creates a home whose spool is empty, or as a crash has left it, where one file may be that of the crashed program.
        init(after crash: CrashState? = nil, keeping file: KeptFile? = nil, patience: String = "100ms") throws {
            folder = try TemporaryDirectory()
            path = folder.path
            for name in ["etc/apps", crash == nil ? "spool/weather/new" : "spool", "state"] {
                try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true)
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path + "/state")
            try crash?.materialize(at: Directory.open(path: spool), keeping: file)
            try TokenApp.keep(ThrowawayTokenKey().p8, in: path)
            try write(
                "etc/pushspool.yaml",
                "spool: \(path)/spool\nstate: ../state\nnode: node-a\njournal: {size: 8MiB}\n"
                    + "intake: {settle: 100ms, patience: \(patience), rescan: 100ms}\nfeedback: {every: 100ms}\n")
            try write(
                "etc/apps/weather.yaml",
                """
                protocol: http2
                environment: sandbox
                topic: com.example.weather
                credentials: {token: {key: \(path)/etc/key.p8, key_id: ABC123DEFG, team_id: DEF123GHIJ}}

                """)
        }

        /// Writes a file in place.
        func write(_ name: String, _ text: String) throws {
            try text.write(toFile: "\(path)/\(name)", atomically: false, encoding: .utf8)
        }

        var spool: String { path + "/spool" }

        /// The text of a job for so many recipients.
        static func job(_ count: Int, _ more: String = "") -> String {
            let zeros = String(repeating: "0", count: 60)
            let tokens = (0..<count).map { "\"\(zeros)\(String($0 + 4_096, radix: 16))\"" }
            return #"{"tokens":[\#(tokens.joined(separator: ","))],"alert":"x"\#(more)}"#
        }

        /// Drops a job, complete.
        func drop(_ name: String, _ text: String) throws {
            try write("spool/weather/" + name, text)
            try FileManager.default.moveItem(atPath: "\(spool)/weather/\(name)", toPath: "\(spool)/weather/new/\(name)")
        }

        /// The lines of all feedback that is published.
        func feedback() throws -> [Substring] {
            try (FileManager.default.subpaths(atPath: "\(spool)/weather/feedback") ?? []).sorted()
                .filter { $0.hasSuffix(".jsonl") }
                .flatMap {
                    try String(contentsOfFile: "\(spool)/weather/feedback/\($0)", encoding: .utf8).split(
                        separator: "\n")
                }
        }

        /// The records in the journal's file, as text.
        func journal() throws -> String {
            let bytes = Array(try Data(contentsOf: URL(filePath: spool + "/.pushspool/node-a/journal")))
            let layout = try #require(JournalLabel(bytes: Array(bytes.prefix(JournalLayout.labelByteCount)))).layout
            return (0..<layout.regionCount).flatMap { index in
                let start = Int(layout.offset(ofRegion: index))
                return JournalText.lines(ofRegion: Array(bytes[start..<start + layout.regionByteCount]), index: index)
            }.joined(separator: "\n")
        }

        /// The files in a folder of the app; in an archive, those of all days.
        func files(_ folder: String) -> [String] {
            let all = FileManager.default.subpaths(atPath: "\(spool)/weather/\(folder)") ?? []
            return all.filter { $0.contains(".json") }.map { String($0.split(separator: "/").last ?? "") }.sorted()
        }
    }
}

extension DaemonResources {
    /// Ends the threads, which otherwise exist as long as the process.
    fileprivate func stop() {
        reactor.stop()
        for worker in [files.worker, files.archives.worker, tokens.worker] { worker.stop() }
    }
}
