import Foundation
import GatewaySimulator
import Glibc
import LinuxIO
import TestSupport
import Testing

/// What there is of secrets in the daemon's memory, its log and its public files, and who may look there.
@Suite struct SecrecyTests {
    @Test(.enabled(if: geteuid() == 0, "only root can run it in another group"))
    func `no core is dumped, and the process is root's`() async throws {
        try await Bench.running(try .init()) { bench in
            // In a group of its own, because the owner of what is in /proc is what tells.
            let daemon = try bench.start(with: "", under: "setpriv --regid 65534 --clear-groups")
            try await bench.watching(daemon) { daemon in
                try await daemon.says("app started")
                let process = "/proc/\(daemon.process.processIdentifier)"
                let limits = try String(contentsOfFile: process + "/limits", encoding: .utf8)
                #expect(limits.contains(#/Max core file size +0 +0 /#), "\(limits)")
                let environment = try Directory.open(path: process).status(of: Array("environ".utf8))
                #expect(environment?.group == 0)
                // Watching goes by way of /proc, too.
                try bench.drop("a.json", job(1))
                #expect(try await bench.end(of: "a.json").state == "done")
                #expect(!daemon.log.contains("cannot be watched"), "\(daemon.log)")
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can read another process's memory"))
    func `the text of a key is not in memory once the key is read`() async throws {
        let modern = try Modern()
        // A piece of the second line of base64, which is all secret.
        let piece = Data(modern.privateKey.dropFirst(100).prefix(32))
        try await modern.serving { bench, daemon in
            try bench.drop("a.json", job(1), app: "modern")
            #expect(try await bench.end(of: "a.json", app: "modern").state == "done")
            let memory = try Memory(of: daemon.process.processIdentifier)
            // The name of the key's file is there as long as the app is.
            #expect(memory.contains(Data("\(bench.path)/etc/key.p8".utf8)))
            #expect(piece.count == 32 && !memory.contains(piece))
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can read another process's memory"))
    func `a passphrase is not in memory once the key is read`() async throws {
        let passphrase = "correct-horse-\(UUID().uuidString)"
        try await Bench.running(try .init()) { bench in
            let (pem, container) = ("\(bench.path)/certificates/client.pem", "\(bench.path)/etc/client.p12")
            let file = "\(bench.path)/etc/passphrase"
            try bench.write("etc/passphrase", passphrase + "\n")
            try await bench.tool(
                "openssl", "pkcs12", "-export", "-in", pem, "-out", container, "-passout", "file:\(file)")
            try await bench.tool("chmod", "600", container, file)
            let files = "pkcs12: \(container), passphrase_file: \(file)"
            try bench.configureApp("weather", credentials: "credentials: {\(files)}")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                let memory = try Memory(of: daemon.process.processIdentifier)
                #expect(memory.contains(Data(container.utf8)))
                #expect(!memory.contains(Data(passphrase.utf8)))
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test func `neither the log nor a public file has a key, a provider token, a device or a payload`() async throws {
        let word = "Quastenflosser"
        let modern = try Modern("payload=stopping answer reason=Forbidden") { $0.foreign = [bytes(of: 3)] }
        let keyLines = modern.secretLines
        #expect(keyLines.count == 3)
        let devices = (1...5).map { token($0) }
        try await modern.running { bench in
            try bench.configureModern()
            try bench.logEverything()
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                let files = try await bench.sendAll(saying: word, daemon)
                #expect(try await daemon.stop() == 0)
                let request = try #require(await bench.simulator.ledger.accepted.first?.request)
                #expect(request["authorization"]?.hasPrefix("bearer eyJ") == true)
                for text in files + [daemon.log, daemon.text] {
                    for secret in keyLines + devices + ["eyJ", word] { #expect(!text.contains(secret)) }
                }
            }
        }
    }

    @Test func `a key or passphrase in the place of a path is in no log, answer or public file`() async throws {
        let keyLines = try Modern().secretLines
        let (body, word) = (keyLines.joined(), "Tr0ub4dor zebra")
        let apps = [
            "credentials: {certificate: \(body)}", "credentials: {pkcs12: \(body)}", "credentials: \(body)",
            "credentials: {certificate: push.pem, passphrase_file: \(word)}", "credentials: {certificate: \(word)}",
            "credentials: {certificate: push.pem}\nserver_name: \(body)",
            "credentials: {certificate: push.pem}\non_doubt: \(keyLines[0])",
            "credentials: {certificate: push.pem}\n\(body): 1",
        ]
        try await Bench.running(try .init()) { bench in
            try bench.logEverything()
            for (number, credentials) in apps.enumerated() {
                try bench.configureApp("pasted\(number)", credentials: credentials)
            }
            try await bench.withDaemon { daemon in
                let broken = apps.indices.map { #""app":"pasted\#($0)","state":"broken""# }
                let published = try await bench.published(broken + [#""app":"weather","state":"idle""#])
                var texts = [published]
                for command in ["check", "doctor", "status"] {
                    let answer = try await bench.run([command, "--config", "\(bench.path)/etc/pushspool.yaml"])
                    texts += [answer.text, answer.log]
                }
                #expect(texts[1...].joined().contains("pasted0"))
                #expect(try await daemon.stop() == 0)
                for text in texts + [daemon.log, daemon.text] {
                    for secret in keyLines.map({ $0.prefix(8) }) + ["Tr0ub4dor", "zebra"] {
                        #expect(!text.contains(secret), "\(secret): \(text)")
                    }
                }
            }
        }
    }
}

extension Modern {
    /// The lines of the private key's PEM that are all secret.
    fileprivate var secretLines: [String] {
        String(decoding: privateKey, as: UTF8.self).split(separator: "\n").map(String.init)
            .filter { !$0.hasPrefix("-----") }
    }
}

/// What a process may write to: heap, stacks and data. It should stand still, or pieces may be missed.
private struct Memory {
    private let areas: [Data]

    init(of process: Int32) throws {
        let memory = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/\(process)/mem"))
        let map = try String(contentsOfFile: "/proc/\(process)/maps", encoding: .utf8)
        areas = map.split(separator: "\n").compactMap { line -> Data? in
            guard let range = line.wholeMatch(of: #/([0-9a-f]+)-([0-9a-f]+) rw.*/#)?.output,
                let start = UInt64(range.1, radix: 16), let end = UInt64(range.2, radix: 16)
            else { return nil }
            // What has gone meanwhile, and what the kernel keeps there, cannot be read.
            try? memory.seek(toOffset: start)
            return try? memory.read(upToCount: Int(end - start))
        }
    }

    func contains(_ piece: Data) -> Bool {
        areas.contains { $0.range(of: piece) != nil }
    }
}

extension Bench {
    /// Has the daemon log all that it can.
    fileprivate func logEverything() throws {
        let text = try String(contentsOfFile: path + "/etc/pushspool.yaml", encoding: .utf8)
        try #require(text.contains("log: {level: debug}"))
        try write("etc/pushspool.yaml", text.replacing("log: {level: debug}", with: "log: {level: trace}"))
    }

    /// Sends jobs of which one goes out, one has a bad token, one cannot be read, and one stops the app until it is
    /// cancelled.
    ///
    /// - Returns: What the public files said, while the app was stopped and when all was over.
    fileprivate func sendAll(saying word: String, _ daemon: Program) async throws -> [String] {
        try drop("good.json", job(1, saying: word), app: "modern")
        #expect(try await end(of: "good.json", app: "modern").accepted == 1)
        let pair = #"{"tokens":["\#(token(2))","\#(token(3))"],"alert":"\#(word)"}"#
        try drop("bad.json", pair, app: "modern")
        #expect(try await end(of: "bad.json", app: "modern").rejected == 1)
        try drop("faulty.json", #"{"token":"\#(token(4))","alert":"\#(word)" "sound":"x"}"#, app: "modern")
        #expect(try await end(of: "faulty.json", app: "modern").code == "invalid")
        try drop("stops.json", job(5, saying: "stopping \(word)"), app: "modern")
        try await daemon.says("app stopped")
        let stopped = try await published([#""app":"modern","state":"stopped""#])
        try configureModern("timeouts: {connect: 5s}")
        daemon.send(SIGHUP)
        try await daemon.says("app reconfigured")
        #expect(try await operate("cancel", "stops.json").code == 0)
        #expect(try await end(of: "stops.json", app: "modern").unsent == 1)
        try drop("last.json", job(1, saying: word), app: "modern")
        #expect(try await end(of: "last.json", app: "modern").accepted == 1)
        let over = try await published([
            #""app":"modern","state":"idle""#, #"outcome="rejected",reason="BadDeviceToken"} 1"#,
            #"pushspool_jobs_finished_total{node="node-a",app="modern",state="done"} 3"#,
            #"pushspool_jobs_finished_total{node="node-a",app="modern",state="failed"} 2"#,
        ])
        return [stopped, over]
    }

    /// Waits until the public files, one behind the other, have all of these.
    fileprivate func published(_ parts: [String]) async throws -> String {
        try await awaited("\(parts)") {
            let files = ["status.json", "metrics.prom"].map { ".pushspool/public/node-a/\($0)" }
            let text = files.map { (try? contents($0)) ?? "" }.joined(separator: "\n")
            return parts.allSatisfy { text.contains($0) } ? text : nil
        }
    }
}
