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

    @Test func `a key makes a repeated job one job`() async throws {
        try await running { bench, door in
            let key = ["--header", "Idempotency-Key: \"storm-17\""]
            for _ in 0..<2 {
                #expect(try await door.call("POST", Self.jobs, Self.json + key, body: Self.job).status == "202")
            }
            let lines = try await awaited("two jobs") {
                let lines = try bench.lines("job", app: "modern")
                return lines.count == 2 ? lines : nil
            }
            #expect(lines.map(\.accepted).sorted { ($0 ?? 0) < ($1 ?? 0) } == [0, 1])
            let twice = #"{"id":"own","token":"\#(token(1))","alert":"x"}"#
            let refused = try await door.call("POST", Self.jobs, Self.json + key, body: twice)
            #expect(refused.status == "422", "\(refused.text)")
        }
    }

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
            // A burst of two is allowed.
            for _ in 0..<2 {
                #expect(try await door.call("POST", Self.jobs, Self.json, body: Self.job).status == "202")
            }
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
            let mixed = #"{"notifications":[{"tokens":["\#(token(4))","!"],"platform":1,"message":"x"}]}"#
            let logs = try await door.call("POST", "/api/push", body: mixed)
            #expect(logs.body.contains(#""token":"!""#), "\(logs.body)")
            let own =
                #"{"notifications":[{"tokens":["\#(token(5))"],"platform":1,"message":"x","apns_id":"\#(Self.id)"}]}"#
            #expect(try await door.call("POST", "/api/push", body: own).body.hasSuffix(#""logs":[]}"#))
        }
    }
}
