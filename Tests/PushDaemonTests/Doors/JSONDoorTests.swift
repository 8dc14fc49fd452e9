import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// The door for JSON over HTTP/1.1, from curl to the gateway.
@Suite struct JSONDoorTests {
    private static let job = #"{"token":"\#(token(1))","payload":{"aps":{"alert":"x"}}}"#
    private static let id = "123e4567-e89b-12d3-a456-42665544000a"
    private static let json = ["--header", "Content-Type: application/json"]
    private static let jobs = "/v1/apps/modern/jobs"

    /// Runs a daemon, and a door before its spool.
    private func running(
        apps: String = "[modern]", rate: String = "1000000/s", _ more: String = "",
        _ body: @Sendable (Bench, OpenDoor) async throws -> Void
    ) async throws {
        try await Modern().serving { bench, _ in
            let way = try Doorway(bench)
            try way.configure("http: {listen: \"127.0.0.1:0\"}\n" + more, apps: apps, rate: rate)
            try await way.open { door in
                try await body(bench, door)
                #expect(try await door.program.stop() == 0, "\(door.program.log)")
            }
        }
    }

    @Test func `a job is dropped, sent, and found again`() async throws {
        try await running { bench, door in
            let answer = try await door.call("POST", Self.jobs, Self.json, body: Self.job)
            #expect(answer.status == "202", "\(answer.text)")
            let path = try #require(answer.field("Location"))
            #expect(answer.body.hasSuffix(#","recipients":1,"rejected":0}"# + "\n"))
            _ = try await bench.accepted(1)
            let found = try await awaited("the end") {
                let found = try await door.call("GET", path)
                return found.status == "200" ? found : nil
            }
            #expect(found.body.contains(#""state":"done","day":"#), "\(found.text)")
            #expect(try await door.call("DELETE", path).status == "409")
        }
    }

    @Test(arguments: [
        ("application/yaml", "token: \(token(1))\nalert: x\n"),
        ("application/jsonl", #"{"token":"\#(token(1))","alert":"x"}"# + "\n"),
    ])
    func `a job may be YAML or lines`(_ type: String, _ job: String) async throws {
        try await running { bench, door in
            let answer = try await door.call("POST", Self.jobs, ["--header", "Content-Type: \(type)"], body: job)
            #expect(answer.status == "202", "\(answer.text)")
            _ = try await bench.accepted(1)
        }
    }

    @Test func `a long job arrives in pieces`() async throws {
        try await running { bench, door in
            let lines = (1...20_000).map { #"{"token":"\#(token($0))","alert":"x"}"# + "\n" }.joined()
            let answer = try await door.call(
                "POST", Self.jobs,
                [
                    "--header", "Content-Type: application/jsonl", "--header", "Transfer-Encoding: chunked", "--header",
                    "Expect:",
                ],
                body: lines)
            #expect(answer.status == "202", "\(answer.text)")
            #expect(answer.body.contains(#""recipients":20000"#))
            _ = try await bench.accepted(20_000)
        }
    }

    @Test func `a bad job is refused with the findings of check`() async throws {
        try await running { bench, door in
            let answer = try await door.call("POST", Self.jobs, Self.json, body: #"{"token":"x","priorty":5}"#)
            #expect(answer.status == "422")
            #expect(answer.field("Content-Type") == "application/problem+json")
            #expect(answer.body.contains(#""hint":"did you mean `priority`?""#), "\(answer.text)")
            #expect(bench.names(in: "modern/new").isEmpty && bench.names(in: "modern/tmp").isEmpty)
        }
    }

    @Test func `a repeated job is answered with the first one`() async throws {
        try await running { bench, door in
            let first = try await door.call("POST", Self.jobs, Self.json + Self.key("\"storm-17\""), body: Self.job)
            #expect(first.status == "202", "\(first.text)")
            for spelling in ["storm-17", "  \"storm-17\" \t"] {
                let again = try await door.call("POST", Self.jobs, Self.json + Self.key(spelling), body: Self.job)
                #expect(again.status == "202" && again.body == first.body, "\(again.text)")
                #expect(again.field("Location") == first.field("Location"))
            }
            _ = try await bench.accepted(1)
            let lines = try await awaited("the end of the job") {
                let lines = try bench.lines("job", app: "modern")
                return lines.isEmpty ? nil : lines
            }
            #expect(lines.map(\.accepted) == [1])
            #expect(bench.names(in: "modern/new").isEmpty && bench.names(in: "modern/tmp") == [".jobs"])
            let other = Self.job.replacing("x", with: "y")
            let refused = try await door.call("POST", Self.jobs, Self.json + Self.key("storm-17"), body: other)
            #expect(refused.status == "422" && refused.body.contains("another job"), "\(refused.text)")
            let twice = #"{"id":"own","token":"\#(token(1))","alert":"x"}"#
            #expect(try await door.call("POST", Self.jobs, Self.json + Self.key("k"), body: twice).status == "422")
        }
    }

    @Test func `a repeated job is a new one if the first was taken back or has failed`() async throws {
        try await running { bench, door in
            #expect(try await bench.operate("pause", "modern").code == 0)
            func drop() async throws -> String {
                let answer = try await door.call("POST", Self.jobs, Self.json + Self.key("k"), body: Self.job)
                return try #require(answer.field("Location"), "\(answer.text)")
            }
            let first = try await drop()
            #expect(try await door.call("DELETE", first).status == "204")
            let second = try await drop()
            #expect(second != first)
            #expect(try await drop() == second)
            let name = try #require(second.split(separator: "/").last)
            #expect(try await bench.operate("cancel", "modern/\(name)").code == 0)
            #expect(try await drop() != second)
        }
    }

    private static func key(_ key: String) -> [String] { ["--header", "Idempotency-Key: \(key)"] }

    @Test func `a key leaves the defaults of lines as they are`() async throws {
        try await running { bench, door in
            let lines = """
                {"defaults": {"alert": "x", "priority": 5, "collapse_id": "c"}, "job": {"count": 1}}
                "\(token(1))"

                """
            let answer = try await door.call(
                "POST", Self.jobs, ["--header", "Content-Type: application/jsonl"] + Self.key("k"), body: lines)
            #expect(answer.status == "202", "\(answer.text)")
            let ledger = try await bench.accepted(1)
            #expect(ledger.accepted[0].priority == 5)
        }
    }

    @Test func `a body with a Content-Encoding is refused`() async throws {
        try await running("xmlrpc: {listen: \"127.0.0.1:0\"}") { _, door in
            let gzip = ["--header", "Content-Encoding: gzip"]
            let answer = try await door.call("POST", Self.jobs, Self.json + gzip, body: Self.job)
            #expect(answer.status == "415" && answer.field("Accept-Encoding") == "identity", "\(answer.text)")
            #expect(try await door.call("POST", "/api/push", gzip, body: "{}").status == "415")
            let plain = ["--header", "Content-Encoding: identity"]
            #expect(try await door.call("POST", Self.jobs, Self.json + plain, body: Self.job).status == "202")
        }
    }

    @Test(arguments: ["http", "xmlrpc"])
    func `a door that all its clients leave at once takes the next one`(_ name: String) async throws {
        try await running("limits: {connections: 3}\nxmlrpc: {listen: \"127.0.0.1:0\"}") { bench, door in
            let port = try door.port(of: name)
            // They leave while the door does not run, as if it were busy.
            let clients = try Program(
                "/usr/bin/env", ["python3", "-c", Self.leaving, port, "\(door.program.process.processIdentifier)"],
                logs: bench.path + "/logs")
            #expect(try await clients.end() == 0, "\(clients.log)")
            let next = try Program(
                "/usr/bin/env", ["curl", "--silent", "--max-time", "30", "--include", "http://127.0.0.1:\(port)/"],
                logs: bench.path + "/logs")
            #expect(try await next.end() == 0, "the door accepts no connection")
            #expect(next.text.hasPrefix("HTTP/1.1 40"), "\(next.text)")
        }
    }

    private static let leaving = """
        import glob, os, signal, socket, sys, time
        port, door = int(sys.argv[1]), int(sys.argv[2])
        clients = [socket.create_connection(("127.0.0.1", port), 30) for _ in range(3)]
        for client in clients:
            client.sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
            assert client.recv(65536).startswith(b"HTTP/1.1 40")
        # It must have nothing more to do, else its next run takes the listening socket back.
        asleep = 0
        while asleep < 5:
            states = {open(path).read().rsplit(")", 1)[1].split()[0] for path in glob.glob(f"/proc/{door}/task/*/stat")}
            asleep = asleep + 1 if states == {"S"} else 0
            time.sleep(0.01)
        os.kill(door, signal.SIGSTOP)
        for client in clients: client.close()
        os.kill(door, signal.SIGCONT)
        """

    @Test func `who does not prove who it is, or asks for another's app, is refused`() async throws {
        try await running { bench, door in
            let cases: [([String], String, String)] = [
                (["--header", "Authorization: Bearer wrong-wrong-wrong-wrong"], Self.jobs, "401"),
                (["--header", "Authorization:"], Self.jobs, "401"),
                (["--user", "fleet:\(Doorway.bearer)"], Self.jobs, "401"),
                (["--user", "cron:\(Doorway.bearer)"], Self.jobs, "202"),
                ([], "/v1/apps/others/jobs", "404"), ([], "/v1/apps/modern/job", "404"),
                ([], "/v1/apps/..%2Fmodern/jobs", "404"), (["--header", "Content-Type: text/plain"], Self.jobs, "415"),
            ]
            for (more, path, status) in cases {
                let answer = try await door.call(
                    "POST", path, (status == "415" ? [] : Self.json) + more, body: Self.job)
                #expect(answer.status == status, "\(more) \(path): \(answer.text)")
            }
            for name in ["%2E%2E", ".", String(repeating: "x", count: 300)] {
                let answer = try await door.call("DELETE", "\(Self.jobs)/\(name)", ["--path-as-is"])
                #expect(answer.status == "404", "\(answer.text)")
            }
            #expect(try await door.call("PUT", Self.jobs).field("Allow") == "POST")
            for path in ["/livez", "/readyz", "/healthz", "/openapi.json"] {
                #expect(try await door.call("GET", path, ["--header", "Authorization:"]).status == "200")
            }
            #expect(try await door.call("GET", "/metrics", ["--header", "Authorization:"]).status == "401")
            let metrics = try await door.call("GET", "/metrics")
            #expect(metrics.body.contains(#"pushspool_door_requests_refused_total{door="http",reason="status 401"} 4"#))
        }
    }

    @Test func `a body that is too long, and a rate that is used up, are refused`() async throws {
        try await running(rate: "1/h", "limits: {request: 1KiB}") { _, door in
            let long = #"{"token":"\#(token(1))","custom":{"a":"\#(String(repeating: "x", count: 2_000))"}}"#
            for more in [[], ["--header", "Transfer-Encoding: chunked"]] {
                #expect(try await door.call("POST", Self.jobs, Self.json + more, body: long).status == "413")
            }
            #expect(try await door.call("POST", Self.jobs, Self.json, body: Self.job).status == "202")
            let answer = try await door.call("POST", Self.jobs, Self.json, body: Self.job)
            #expect(answer.status == "429")
            #expect(answer.field("Retry-After") != nil)
        }
    }

    @Test func `a job that waits can be removed`() async throws {
        try await running { bench, door in
            let late = #"{"token":"\#(token(1))","alert":"x"}"#
            #expect(try await bench.operate("pause", "modern").code == 0)
            let answer = try await door.call("POST", Self.jobs, Self.json, body: late)
            let path = try #require(answer.field("Location"))
            #expect(try await door.call("GET", path).body.contains(#""state":"waiting""#))
            #expect(try await door.call("DELETE", path).status == "204")
            #expect(try await door.call("DELETE", path).status == "404")
            #expect(bench.names(in: "modern/new").isEmpty)
        }
    }

    @Test func `feedback is read from a cursor on, and followed`() async throws {
        try await running { bench, door in
            var cursor = ""
            for round in 1...2 {
                let answer = try await door.call("POST", Self.jobs, Self.json, body: Self.job)
                #expect(answer.status == "202")
                let feedback = try await awaited("feedback") {
                    let page = try await door.call("GET", "/v1/apps/modern/feedback?after=\(cursor)")
                    return page.body.isEmpty ? nil : page
                }
                #expect(feedback.body.contains(#""kind":"job""#), "round \(round)")
                #expect(feedback.body.split(separator: "\n").count == 1)
                cursor = try #require(feedback.field("Pushspool-Cursor"))
            }
            let events = try Program(
                "/usr/bin/env",
                [
                    "curl", "--silent", "--no-buffer", "--max-time", "30", "--header", "Accept: text/event-stream",
                    "--header", "Authorization: Bearer \(Doorway.bearer)", "--header", "Last-Event-ID: \(cursor)",
                    "http://127.0.0.1:\(try door.port(of: "http"))/v1/apps/modern/feedback",
                ], logs: bench.path + "/logs")
            _ = try await door.call("POST", Self.jobs, Self.json, body: Self.job)
            _ = try await awaited("an event") { events.text.contains("\ndata: {\"v\":1,\"kind\":\"job\"") ? true : nil }
            #expect(events.text.contains("id: 2"))
            #expect(!events.text.contains("id: \(cursor)\n"))
            // Who is not admitted any more must not hear more.
            door.program.send(SIGHUP)
            #expect(try await events.end() == 0, "\(events.log)")
        }
    }

    @Test func `a feedback file without a line end takes little memory, and is left out of a stream of events`()
        async throws
    {
        try await running { bench, door in
            _ = try await door.call("POST", Self.jobs, Self.json, body: Self.job)
            _ = try await bench.accepted(1)
            let name = try await awaited("feedback") {
                bench.names(in: "modern/feedback").first { !$0.hasPrefix(".") }
            }
            let folder = bench.path + "/spool/modern/feedback"
            let sparse = folder + "/2000" + name.dropFirst(4)
            try #require(FileManager.default.createFile(atPath: sparse, contents: nil))
            let file = try #require(FileHandle(forWritingAtPath: sparse))
            try file.truncate(atOffset: 1 << 30)
            try file.close()
            let events = try Program(
                "/usr/bin/env",
                [
                    "curl", "--silent", "--no-buffer", "--max-time", "30", "--header", "Accept: text/event-stream",
                    "--header", "Authorization: Bearer \(Doorway.bearer)",
                    "http://127.0.0.1:\(try door.port(of: "http"))/v1/apps/modern/feedback",
                ], logs: bench.path + "/logs")
            _ = try await awaited("the event behind it") { events.text.contains("\"kind\":\"job\"") ? true : nil }
            try await door.program.says("rest of a feedback file is left out")
            let status = try String(
                contentsOfFile: "/proc/\(door.program.process.processIdentifier)/status", encoding: .utf8)
            let peak = try #require(status.firstMatch(of: #/VmHWM:\s*(\d+) kB/#)?.output.1)
            #expect(try #require(Int(peak)) < 250 << 10)
        }
    }

    @Test func `what consumers put into feedback ends neither an answer nor a stream`() async throws {
        try await running { bench, door in
            let folder = bench.path + "/spool/modern/feedback"
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/20190101T000000.000000Z-test.jsonl", withDestinationPath: "/etc/passwd")
            try #require(unsafe mkfifo(folder + "/20190102T000000.000000Z-test.jsonl", 0o600) == 0)
            try FileManager.default.createDirectory(
                atPath: folder + "/20190103T000000.000000Z-test.jsonl", withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/22490101T000000.000000Z-node-a.jsonl", withDestinationPath: "/etc/passwd")
            #expect(try await door.call("POST", Self.jobs, Self.json, body: Self.job).status == "202")
            let page = try await awaited("feedback") {
                let page = try await door.call("GET", "/v1/apps/modern/feedback")
                return page.body.isEmpty ? nil : page
            }
            #expect(page.body.split(separator: "\n").count == 1 && page.body.contains(#""kind":"job""#), "\(page.text)")
            let cursor = try #require(page.field("Pushspool-Cursor"))
            #expect(!cursor.contains("2249") && !cursor.contains("2019"), "\(cursor)")
            let events = try Program(
                "/usr/bin/env",
                [
                    "curl", "--silent", "--no-buffer", "--max-time", "30", "--header", "Accept: text/event-stream",
                    "--header", "Authorization: Bearer \(Doorway.bearer)",
                    "http://127.0.0.1:\(try door.port(of: "http"))/v1/apps/modern/feedback",
                ], logs: bench.path + "/logs")
            _ = try await awaited("an event") { events.text.contains("\ndata: {") ? true : nil }
            #expect(try await door.call("POST", Self.jobs, Self.json, body: Self.job).status == "202")
            _ = try await awaited("the next event") {
                events.text.components(separatedBy: "\ndata: {").count == 3 ? true : nil
            }
            try await door.program.says("feedback file is skipped", times: 4)
            #expect(!door.program.log.contains("feedback cannot be read"))
            try await events.destroy()
        }
    }

    @Test func `gorush's clients can push`() async throws {
        try await running { bench, door in
            let body = """
                {"notifications":[
                  {"tokens":["\(token(1))","\(token(2))"],"platform":1,"message":"Hello World iOS!","title":"Gorush with iOS",
                   "topic":"com.example.weather","badge":1,"sound":{"critical":1,"name":"default","volume":1.0},"data":{"key1":"welcome"}},
                  {"tokens":["android"],"platform":2,"message":"Hello World Android!"},
                  {"tokens":["\(token(3))"],"platform":1,"message":"x","topic":"com.example.other"},
                  {"tokens":["\(token(3))"],"platform":1,"message":"x","topic":"com.example.weather","production":true},
                  {"tokens":[],"platform":1,"message":"x"}]}
                """
            let answer = try await door.call("POST", "/api/push", body: body)
            #expect(answer.status == "200", "\(answer.text)")
            #expect(
                answer.body.hasPrefix(#"{"success":"ok","counts":5,"logs":[{"type":"failed-push","platform":"android""#)
            )
            let ledger = try await bench.accepted(2)
            let payload = String(decoding: ledger.accepted[0].payload, as: UTF8.self)
            #expect(
                payload.contains(#""alert":{"title":"Gorush with iOS","body":"Hello World iOS!"},"badge":1"#),
                "\(payload)")
            for error in ["has the topic and the environment com.example.other", "tokens must not be empty"] {
                #expect(answer.body.contains(error), "\(answer.body)")
            }
            #expect(answer.body.matches(of: /has the topic and the environment/).count == 2)
            for bad in ["{}", "{\"notifications\":[1]}", "["] {
                #expect(try await door.call("POST", "/api/push", body: bad).status == "400")
            }
            let wrong = #"{"notifications":[{"tokens":["\#(token(4))"],"platform":1,"message":5}]}"#
            let typed = try await door.call("POST", "/api/push", body: wrong)
            #expect(typed.body.contains("message: expected a string, found a number"), "\(typed.body)")
            let mixed = #"{"notifications":[{"tokens":["\#(token(4))","!"],"platform":1,"message":"x"}]}"#
            let logs = try await door.call("POST", "/api/push", body: mixed)
            #expect(logs.body.contains(#""token":"!""#), "\(logs.body)")
            let own =
                #"{"notifications":[{"tokens":["\#(token(5))"],"platform":1,"message":"x","apns_id":"\#(Self.id)"}]}"#
            #expect(try await door.call("POST", "/api/push", body: own).body.hasSuffix(#""logs":[]}"#))
        }
    }
}
