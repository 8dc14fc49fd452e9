import Foundation
import GatewaySimulator
import LinuxIO
import TestSupport
import Testing

/// One app's documents that are made to take long, and the other apps.
@Suite struct HostileDocumentTests {
    /// A document, and what is told of it.
    struct Hostile: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        /// What its job's line says, in part; `nil` if it is sent, apart from those who are rejected.
        var why: String?
        /// Whether reading it takes longer than twenty jobs of another app, in a debug build.
        var isLong = false

        var testDescription: String { name }

        /// Repeats a unit between a start and an end.
        init(_ name: String, _ start: String, _ middle: (count: Int, unit: String), _ end: String = "") {
            self.name = name
            self.text = start + String(repeating: middle.unit, count: middle.count) + end
        }

        func failing(_ why: String) -> Hostile {
            var hostile = self
            hostile.why = why
            return hostile
        }

        func taking(long isLong: Bool) -> Hostile {
            var hostile = self
            hostile.isLong = isLong
            return hostile
        }
    }

    static let documents = [
        Hostile("tags.yaml", "", (200_000, "%TAG !a! tag:example.com:\n"), "--- {token: 0a, alert: x}\n")
            .failing("the document has more than 16 directives"),
        Hostile("comments.yaml", "alert: x\n", (500_000, "# note\n"), "token: [\n").failing("missing"),
        Hostile("keys.yaml", "alert: x\ntoken: 0a\n", (100_000, "k: 1\n")).failing("appears twice"),
        Hostile("alert.json", "{\"token\":\"0a\",\"alert\":{", (30_000, "\"\\u00e9\":1,"), "\"z\":2}}")
            .failing("appears twice"),
        Hostile("null.json", "{\"strict\":true,\"alert\":\"x\",\"tokens\":[", (60_000, "\"(null)\","), "\"\"]}")
            .failing("neither hexadecimal nor base64"),
        Hostile("faulty.yaml", "strict: true\nalert: x\nrecipients:\n", (60_000, "- {tokn: z}\n"))
            .failing("is unknown"),
        Hostile("long.jsonl", "{\"defaults\":{\"alert\":\"x\"}}\n", (700_000, "\"\(token(7))\"\n"), "\n7\n")
            .failing("the line is blank").taking(long: true),
    ]

    /// All of them in a full run.
    static let some = isFullRun ? documents : [0, 2, 4, 6].map { documents[$0] }

    @Test(
        .catalogue("J71 hostile-documents, another app goes on", checks: [.onePlace]),
        arguments: some)
    func `a document that takes long delays no other app, and fails with its reason`(hostile: Hostile) async throws {
        try await Bench.running(try .init()) { bench in
            try bench.configureApp("flood")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started", times: 2)
                try bench.drop(hostile.name, hostile.text, app: "flood")
                if hostile.isLong { try await bench.isReading(in: daemon) }
                for number in 1...20 { try bench.drop("n\(number).json", job(number)) }
                try await eventually("the others") { bench.jobs(in: "done").count == 20 }
                if hostile.isLong { #expect(bench.names(in: "flood/new") == [hostile.name]) }
                let line = try await bench.end(of: hostile.name, app: "flood")
                #expect(line.state == "failed" && line.code == "invalid")
                let told = try await bench.result(of: line).diagnostics ?? []
                #expect(told.contains { $0.message.contains(hostile.why ?? "") }, "\(told.prefix(3))")
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test(.catalogue("J71 hostile-documents, short ones", checks: []))
    func `short documents full of faults delay no other app`() async throws {
        try await Bench.running(try .init()) { bench in
            try bench.configureApp("flood")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started", times: 2)
                let text = "strict: true\nalert: x\ntokens:\n" + String(repeating: "-\n", count: 32_000)
                for number in 1...20 { try bench.drop("short\(number).yaml", text, app: "flood") }
                try bench.drop("last.json", job(1))
                _ = try await bench.end(of: "last.json")
                try await eventually("the others") { bench.jobs(in: "failed", app: "flood").count == 20 }
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test(.catalogue("J71 hostile-documents, many short ones beside a long one", checks: [.onePlace]))
    func `short documents that are taken beside a long one delay no other app`() async throws {
        try await Bench.running(try .init()) { bench in
            try bench.configureApp("flood")
            try FileManager.default.createDirectory(
                atPath: bench.path + "/spool/flood/new", withIntermediateDirectories: true)
            let long = Self.documents.last { $0.isLong }!
            try bench.drop(long.name, long.text, app: "flood")
            let text =
                "{\"strict\":true,\"alert\":\"x\",\"tokens\":[" + String(repeating: "null,", count: 1_000) + "null]}"
            for number in 1...120 { try bench.drop("s\(number).json", text, app: "flood") }
            try await bench.withDaemon { daemon in
                _ = try await bench.end(of: long.name, app: "flood")
                #expect(try await daemon.stop() == 0)
            }
            // Files taken in one turn are moved one right after the other. A turn is followed by a pause of 10 ms.
            var times: [(name: String, time: Int64)] = try bench.archived("failed", app: "flood").map { path in
                let file = try OpenFile.open(path: "\(bench.path)/spool/\(path)")
                return (String(path.split(separator: "/").last ?? ""), try file.status().changedAt)
            }
            times = times.filter { !$0.name.hasSuffix(".result.json") }.sorted { $0.time < $1.time }
            let beside = times.prefix { $0.name != long.name }
            #expect(!beside.isEmpty)
            var turn = 0
            for (file, next) in zip(beside, beside.dropFirst()) {
                turn = next.time - file.time < 5_000_000 ? turn + 1 : 0
                #expect(turn < 20, "many were taken without a break, the last of them \(next.name)")
            }
        }
    }

    /// How an app ends while it reads.
    enum Ending: String, CaseIterable {
        case term, removal
    }

    @Test(
        .catalogue("J71 hostile-documents, an end while one is read", checks: [.onePlace]), arguments: Ending.allCases)
    func `an app that ends does not wait for the document that it reads`(ending: Ending) async throws {
        try await Bench.running(try .init()) { bench in
            let long = Hostile("long.yaml", "alert: x\ntokens:\n", (800_000, "- \(token(7))\n"))
            try await bench.withDaemon(drain: 20) { daemon in
                try await daemon.says("app started")
                try bench.drop(long.name, long.text)
                try await bench.isReading(in: daemon)
                if ending == .removal { try await bench.removeApp(daemon) }
                #expect(try await daemon.stop() == 0, "\(daemon.log.suffix(2000))")
                #expect(bench.names(in: "weather/new") == [long.name])
                #expect(await bench.simulator.ledger.acceptedCount == 0)
            }
        }
    }

    @Test(
        .catalogue("J71 hostile-documents, check", checks: []),
        arguments: some)
    func `check tells what the daemon would`(hostile: Hostile) async throws {
        try await Bench.running(try .init()) { bench in
            try bench.write(hostile.name, hostile.text)
            let end = try await bench.run(["check", "--jobs-only", "\(bench.path)/\(hostile.name)"])
            #expect(end.code == 65 && end.log.contains(hostile.why ?? ""), "\(end.log.prefix(1000))")
            #expect(end.log.components(separatedBy: "error: ").count <= 1_001)
        }
    }
}

extension Bench {
    /// Waits until the daemon has a thread that reads a long file.
    fileprivate func isReading(in daemon: Program) async throws {
        try await eventually("a reading") { try daemon.threads.contains("reading") }
    }

    /// Removes the app's configuration, and waits until the app has ended.
    fileprivate func removeApp(_ daemon: Program) async throws {
        try FileManager.default.removeItem(atPath: path + "/etc/apps/weather.yaml")
        daemon.send(SIGHUP)
        try await daemon.says("app removed from the configuration")
    }
}
