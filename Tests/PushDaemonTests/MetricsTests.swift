import Foundation
import GatewaySimulator
import TestSupport
import Testing

/// What monitoring reads of a running daemon.
@Suite struct MetricsTests {
    @Test func `the file's numbers are those of the feedback, and it goes with the daemon`() async throws {
        try await Bench.running(try .init(script: "nth=2 refuse status=8")) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("good.json", job(tokens: 0..<4))
                #expect(try await bench.end(of: "good.json").accepted == 3)
                try bench.drop("bad.json", job(9, #","alrt":1"#))
                #expect(try await bench.end(of: "bad.json").code == "invalid")
                try await bench.tells([
                    #"pushspool_notifications_total{node="node-a",app="weather",outcome="accepted"} 3"#,
                    #"pushspool_notifications_total{node="node-a",app="weather",outcome="rejected"} 1"#,
                    #"pushspool_last_accepted_timestamp_seconds{node="node-a",app="weather"} "#,
                    #"outcome="rejected",reason="BadDeviceToken"} 1"#,
                    #"pushspool_jobs_claimed_total{node="node-a",app="weather"} 2"#,
                    #"pushspool_jobs_finished_total{node="node-a",app="weather",state="done"} 1"#,
                    #"pushspool_jobs_finished_total{node="node-a",app="weather",state="failed"} 1"#,
                    #"pushspool_job_failures_total{node="node-a",app="weather",code="invalid"} 1"#,
                    #"pushspool_job_wait_duration_seconds_count{node="node-a",app="weather"} 2"#,
                    #"pushspool_app_state{node="node-a",app="weather",state="idle"} 1"#,
                    #"pushspool_credential_expiry_timestamp_seconds{node="node-a",app="weather",kind="certificate"} "#,
                    #"pushspool_queue_jobs{node="node-a",app="weather",folder="work"} 0"#,
                    #"pushspool_connections_opened_total{node="node-a",app="weather"} "#,
                    #"pushspool_journal_sync_duration_seconds_count{node="node-a"} "#,
                ])
                #expect(try await daemon.stop() == 0)
            }
            #expect(bench.names(in: ".pushspool/public/node-a") == ["apps.json"])
        }
    }

    @Test func `what is held is counted, whoever put it there`() async throws {
        try await Bench.running(try .init()) { bench in
            let path = bench.path + "/metrics.sock"
            try bench.listen(at: "unix:" + path)
            try await bench.withDaemon { daemon in
                try await daemon.says("listening for metrics requests")
                try await daemon.says("app started")
                for (count, name) in ["a.json", "b.yaml", "c.jsonl"].enumerated() {
                    try bench.write("spool/weather/hold/\(name)", job(count))
                    let line = #"pushspool_queue_jobs{node="node-a",app="weather",folder="hold"} \#(count + 1)"#
                    try await eventually(line) {
                        try await bench.ask("--unix-socket", path, "http://localhost/metrics").contains(line)
                    }
                }
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test func `what operators end is counted like all that fails`() async throws {
        var setup = try Bench.Setup()
        setup.settle = "1h"
        try await Bench.running(setup) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                for command in ["cancel", "expire"] {
                    try bench.write("spool/weather/new/\(command).json", job(1))
                    #expect(try await bench.operate(command, "weather/\(command).json").code == 0)
                }
                try await bench.tells([
                    #"pushspool_jobs_finished_total{node="node-a",app="weather",state="failed"} 2"#,
                    #"pushspool_job_failures_total{node="node-a",app="weather",code="cancelled"} 1"#,
                    #"pushspool_job_failures_total{node="node-a",app="weather",code="expired"} 1"#,
                ])
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test func `who asks at a local socket gets the numbers of that moment`() async throws {
        try await Modern().running { bench in
            try bench.configureModern()
            let path = bench.path + "/metrics.sock"
            try bench.listen(at: "unix:" + path)
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("one.json", job(tokens: 0..<20), app: "modern")
                _ = try await bench.end(of: "one.json", app: "modern")
                let text = try await bench.ask("--unix-socket", path, "http://localhost/metrics")
                #expect(text.contains(#"pushspool_answer_duration_seconds_count{node="node-a",app="modern"} 20"#))
                #expect(text.contains(#"pushspool_connections{node="node-a",app="modern"} 1"#))
                #expect(text.contains(#"pushspool_notifications_in_flight{node="node-a",app="modern"} 0"#))
                let status = try await bench.ask("--unix-socket", path, "--head", "http://localhost/metrics")
                #expect(status.hasPrefix("HTTP/1.1 405 "), "\(status)")
                let codes = try await bench.ask(
                    "--unix-socket", path, "--parallel", "--output", "/dev/null", "--write-out", "%{http_code} ",
                    "http://localhost/metrics?[1-40]")
                #expect(codes == String(repeating: "200 ", count: 40))
                // Killed, it leaves the name of its socket behind.
                try await daemon.destroy()
            }
            #expect(FileManager.default.fileExists(atPath: path))
            try await bench.withDaemon { daemon in
                try await daemon.says("listening for metrics requests")
                let text = try await bench.ask("--unix-socket", path, "http://localhost/metrics")
                #expect(text.contains("pushspool_build_info"))
                #expect(try await daemon.stop() == 0)
            }
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func `a port that is taken is told, and everything else goes on`() async throws {
        try await Bench.running(try .init()) { bench in
            try bench.listen(at: "127.0.0.1:\(bench.simulator.ports.gateway)")
            try await bench.withDaemon { daemon in
                try await daemon.says("metrics endpoint cannot be opened")
                #expect(daemon.log.contains("EADDRINUSE") && daemon.log.contains("set another metrics.listen"))
                try await daemon.says("app started")
                try bench.drop("one.json", job(1))
                #expect(try await bench.end(of: "one.json").accepted == 1)
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test func `an address that others reach is a fault of the configuration`() async throws {
        try await Bench.running(try .init()) { bench in
            try bench.listen(at: "0.0.0.0:9469")
            let end = try await bench.run(["check", "--config", "\(bench.path)/etc/pushspool.yaml"])
            #expect(end.code == 78, "\(end)")
            #expect(end.log.contains("metrics.listen: 0.0.0.0 is not a loopback address"), "\(end)")
            #expect(end.log.contains("hint: write 127.0.0.1:9469"), "\(end)")
            #expect(end.log.contains("if other hosts may read them, add public: true"), "\(end)")
        }
    }

    @Test(arguments: [("true", 0), ("false", 78), ("yes", 78), ("0.0.0.0", 78)])
    func `other hosts may ask if the configuration says so`(word: String, code: Int32) async throws {
        try await Bench.running(try .init()) { bench in
            try bench.listen(at: "0.0.0.0:9469", isPublic: word)
            let end = try await bench.run(["check", "--config", "\(bench.path)/etc/pushspool.yaml"])
            #expect(end.code == code, "\(end)")
        }
    }
}

extension Bench {
    /// Adds `metrics.listen` to the daemon's file.
    fileprivate func listen(at place: String, isPublic: String = "false") throws {
        let text = try String(contentsOfFile: path + "/etc/pushspool.yaml", encoding: .utf8)
        try write("etc/pushspool.yaml", text + "metrics: {listen: \"\(place)\", public: \(isPublic)}\n")
    }

    /// Waits until the file of metrics has all of these.
    fileprivate func tells(_ parts: [String]) async throws {
        func read() -> String { (try? contents(".pushspool/public/node-a/metrics.prom")) ?? "" }
        try await eventually("\(parts) in\n\(read())") {
            let text = read()
            return parts.allSatisfy { text.contains($0) }
        }
    }

    /// What curl gets.
    fileprivate func ask(_ arguments: String...) async throws -> String {
        let curl = try Program(
            "/usr/bin/env", ["curl", "--silent", "--show-error", "--max-time", "50"] + arguments, logs: path + "/logs")
        let code = try await curl.end()
        try #require(code == 0, "\(arguments): \(curl.log)")
        return curl.text
    }
}
