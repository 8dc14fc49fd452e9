import Foundation
import GatewaySimulator
import Glibc
import LinuxIO
import PushModel
import TestSupport
import Testing

/// The APNs relay, from a client's request to the gateway.
@Suite struct RelayTests {
    private static let id = "123e4567-e89b-12d3-a456-42665544000a"

    /// Runs a daemon, and a door before its spool.
    private func running(
        _ more: String = "", _ body: @Sendable (Bench, Doorway) async throws -> Void
    ) async throws {
        try await Modern().serving { bench, _ in try await body(bench, Doorway(bench, more)) }
    }

    @Test func `a request is answered once its job is in the spool, and goes to the gateway with its id`() async throws
    {
        try await running { bench, way in
            try await way.open { door in
                let answer = try await door.ask(1, ["--header", "apns-id: \(Self.id)", "--header", "apns-priority: 5"])
                #expect(answer.status == "200" && answer.field("apns-id") == Self.id, "\(answer.text)")
                let ledger = try await bench.accepted(1)
                let request = try #require(ledger.accepted.first?.request)
                #expect(request.id == Self.id && request["apns-priority"] == "5")
                #expect(ledger.accepted.first?.payload == Array(#"{"aps":{"alert":"x"}}"#.utf8))
                let line = try await awaited("a line") { try bench.lines("job", app: "modern").first }
                #expect(line.job?.hasPrefix("relay-") == true && line.state == "done" && line.accepted == 1)
                #expect(try await door.program.stop() == 0, "\(door.program.log)")
            }
        }
    }

    @Test func `a relay that started before the first daemon knows its apps once it is asked`() async throws {
        try await Modern().running { bench in
            try bench.configureModern()
            try await Doorway(bench).open { door in
                #expect(try await door.ask(1).status == "503")
                try await bench.withDaemon { daemon in
                    try await eventually("the list of apps") {
                        bench.names(in: ".pushspool/public/node-a").contains("apps.json")
                    }
                    // Each second, a refusal makes the relay look. By itself it looks every 30 s.
                    var refusalCount = 0
                    while try await door.ask(2).status != "200" {
                        refusalCount += 1
                        try #require(refusalCount < 10)
                        try await moment(.seconds(1))
                    }
                    _ = try await bench.accepted(1)
                    #expect(try await daemon.stop() == 0)
                }
            }
        }
    }

    @Test func `a certificate is as good as a token, and another one is none`() async throws {
        try await running { bench, way in
            try await way.open { door in
                let own = ["--cert", "\(bench.path)/door/client.pem"]
                #expect(try await door.ask(1, own).status == "200")
                let other = try await door.ask(2, ["--cert", "\(bench.path)/certificates/client.pem"])
                #expect(other.status == "403" && other.text.contains("MissingProviderToken"))
            }
        }
    }

    @Test func `what Apple would refuse is refused at once, with its status and reason`() async throws {
        try await running { bench, way in
            try await way.open { door in
                let late = "authorization: bearer \(try way.token(age: 3700))"
                let wrong = "authorization: bearer \(try way.token(keyID: "OTHERKEY01"))"
                let cases: [([String], String, String, String)] = [
                    (["--header", late], #"{"aps":{}}"#, "403", "ExpiredProviderToken"),
                    (["--header", wrong], #"{"aps":{}}"#, "403", "InvalidProviderToken"),
                    (["--header", "apns-topic: com.example.other"], #"{"aps":{}}"#, "400", "TopicDisallowed"),
                    (["--header", "apns-priority: 3"], #"{"aps":{}}"#, "400", "BadPriority"),
                    ([], "{}}", "400", "BadRequestPayload"),
                    ([], #"{"aps":{"alert":"\#(String(repeating: "x", count: 9000))"}}"#, "413", "PayloadTooLarge"),
                    (["--request", "GET"], "", "405", "MethodNotAllowed"),
                ]
                for (more, body, status, reason) in cases {
                    let answer = try await door.ask(1, more, body: body)
                    #expect(
                        answer.status == status && answer.text.contains("{\"reason\":\"\(reason)\"}"), "\(answer.text)")
                }
                #expect(bench.names(in: "modern/new").isEmpty)
                #expect(await bench.simulator.ledger.entries.isEmpty)
            }
        }
    }

    @Test func `an id that comes again is answered and not sent again, also by the next door`() async throws {
        try await running { bench, way in
            let header = ["--header", "apns-id: \(Self.id)"]
            for round in 0..<2 {
                try await way.open { door in
                    for _ in 0..<2 { #expect(try await door.ask(1, header).status == "200") }
                    if round == 0 { try await door.program.destroy() }
                }
            }
            try await way.open { door in
                let status = try await door.ask(2).status
                #expect(status == "200")
            }
            let ledger = try await bench.accepted(2)
            #expect(ledger.arrivedCount == 2 && ledger.accepted.first?.request?.id == Self.id)
        }
    }

    @Test func `without its state folder the relay takes nothing, and so doubles nothing after a restart`() async throws
    {
        try await running { bench, way in
            let (files, state) = (FileManager.default, bench.path + "/doorstate")
            let header = ["--header", "apns-id: \(Self.id)"]
            try await way.open { door in
                #expect(try await door.ask(1, header).status == "200")
                try files.moveItem(atPath: state, toPath: bench.path + "/elsewhere")
                for _ in 0..<3 {
                    let answer = try await door.ask(2, header)
                    #expect(answer.status == "503", "\(answer.text)")
                }
                let lines = door.program.log.split(separator: "\n").filter { $0.contains("ids cannot be logged") }
                #expect(lines.count == 1 && lines[0].contains("make `state` a folder"), "\(lines)")
                try files.moveItem(atPath: bench.path + "/elsewhere", toPath: state)
                #expect(try await door.ask(2, header).status == "200")
                try await door.program.says("requests are accepted again")
                try await door.program.destroy()
            }
            try await way.open { door in
                for number in 1...3 {
                    let status = try await door.ask(number, header).status
                    #expect(status == "200")
                }
            }
            let ledger = try await bench.accepted(3)
            #expect(ledger.arrivedCount == 3)
        }
    }

    @Test func `one id for several devices reaches each of them, once`() async throws {
        try await running { bench, way in
            let header = ["--header", "apns-id: \(Self.id)"]
            try await way.open { door in
                for _ in 0..<2 {
                    for number in 1...3 {
                        let answer = try await door.ask(number, header)
                        #expect(answer.status == "200", "\(answer.text)")
                        #expect(answer.field("apns-id") == Self.id, "\(answer.text)")
                    }
                }
                #expect(try await door.ask(4).status == "200")
                let ledger = try await bench.accepted(4)
                #expect(ledger.arrivedCount == 4 && ledger.accepted.count { $0.request?.id == Self.id } == 3)
            }
        }
    }

    @Test func `what a request asks for is kept or refused, and never dropped`() async throws {
        try await running { bench, way in
            try await way.open { door in
                let refused: [(String, String)] = [
                    ("apns-expiration: 0\u{1}", "BadExpirationDate"), ("apns-collapse-id: a\u{7F}", "BadCollapseId"),
                    ("apns-priority: 5\u{2}", "BadPriority"),
                ]
                for (field, reason) in refused {
                    let answer = try await door.ask(1, ["--header", field])
                    #expect(answer.status == "400" && answer.text.contains(reason), "\(answer.text)")
                }
                let voip = ["--header", "apns-topic: com.example.weather.voip", "--header", "apns-expiration: 1"]
                #expect(try await door.ask(2, voip).status == "200")
                let request = try #require(try await bench.accepted(1).accepted.first?.request)
                #expect(request["apns-push-type"] == "voip" && request["apns-expiration"] == "0")
                #expect(request["apns-topic"] == "com.example.weather.voip")
            }
        }
    }

    @Test func `while the daemon is stopped, requests are taken, and sent when it runs again`() async throws {
        try await Modern().running { bench in
            try bench.configureModern()
            try await bench.publishApps()
            try await Doorway(bench).open { door in
                for number in 1...3 { #expect(try await door.ask(number).status == "200") }
                #expect(bench.names(in: "modern/new").count == 3)
                try await bench.withDaemon { _ in
                    let count = try await bench.accepted(3).acceptedCount
                    #expect(count == 3)
                }
            }
        }
    }

    @Test func `beyond the limit of waiting jobs nothing is taken, and after that again`() async throws {
        try await Modern().running { bench in
            try bench.configureModern()
            try await bench.publishApps()
            try await Doorway(bench, "limits: {waiting: 2}").open { door in
                #expect(try await door.ask(1).status == "200")
                #expect(try await door.ask(2).status == "200")
                let answer = try await door.ask(3)
                #expect(answer.status == "503" && answer.text.contains("ServiceUnavailable"), "\(answer.text)")
                #expect(bench.names(in: "modern/new").count == 2)
                try await door.program.says("requests are refused")
                try FileManager.default.removeItem(
                    atPath: "\(bench.path)/spool/modern/new/\(bench.names(in: "modern/new")[0])")
                try await eventually("taken again") { try await door.ask(4).status == "200" }
                try await door.program.says("requests are accepted again")
            }
        }
    }

    @Test func `a new configuration counts at once, and a broken one not at all`() async throws {
        try await running { _, way in
            try await way.open { door in
                #expect(try await door.ask(1).status == "200")
                try way.configure(apps: "[other]")
                door.program.send(SIGHUP)
                try await door.program.says("configuration loaded")
                #expect(try await door.ask(2).text.contains("TopicDisallowed"))
                try way.configure("unknown: 1")
                door.program.send(SIGHUP)
                try await door.program.says("configuration is invalid and was not applied")
                #expect(try await door.ask(3).text.contains("TopicDisallowed"))
            }
        }
    }

    /// Runs a relay whose gateway knows a token that is gone and one of another environment.
    private func withFaults(
        _ more: String, script: String = "", _ body: @Sendable (Bench, OpenDoor) async throws -> Void
    ) async throws {
        let modern = try Modern(script) {
            $0.unregistered = [bytes(of: 1): 1_700_000_000_123]
            $0.foreign = [bytes(of: 2)]
        }
        try await modern.serving { bench, _ in
            let way = try Doorway(bench)
            try way.configure(relay: more)
            try await way.open { door in try await body(bench, door) }
        }
    }

    @Test func `a token that was reported gone is refused at once from then on`() async throws {
        try await withFaults("") { bench, door in
            #expect(try await door.ask(1).status == "200")
            try await eventually("410") {
                let answer = try await door.ask(1)
                return answer.status == "410"
                    && answer.text.contains(#"{"reason":"Unregistered","timestamp":1700000000123}"#)
            }
            #expect(try await door.ask(3).status == "200")
        }
    }

    @Test func `an answer can be that of the gateway`() async throws {
        try await withFaults("answer: gateway, gone: 0") { _, door in
            let good = try await door.ask(3)
            #expect(good.status == "200" && good.field("pushspool-spooled") == nil, "\(good.text)")
            let gone = try await door.ask(1)
            #expect(gone.status == "410" && gone.text.contains("1700000000123"), "\(gone.text)")
            let foreign = try await door.ask(2)
            #expect(foreign.status == "400" && foreign.text.contains("BadDeviceToken"), "\(foreign.text)")
        }
    }

    @Test func `the gateway's answer does not wait for the next feedback file`() async throws {
        try await Modern("nth=1 answer reason=BadDeviceToken").running { bench in
            let usual = try String(contentsOfFile: "\(bench.path)/etc/pushspool.yaml", encoding: .utf8)
            try bench.write("etc/pushspool.yaml", usual.replacing("{every: 20ms}", with: "{every: 1h}"))
            try bench.configureModern()
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                let way = try Doorway(bench)
                try way.configure(relay: "answer: gateway, wait: 1m")
                try await way.open { door in
                    // The first round of publications is due at once.
                    #expect(try await door.ask(1).status == "400")
                    for number in 2...4 {
                        let answer = try await door.ask(number)
                        #expect(answer.status == "200" && answer.field("pushspool-spooled") == nil, "\(answer.text)")
                    }
                    let published = bench.names(in: "modern/feedback").filter { $0.hasSuffix(".jsonl") }
                    #expect(published.count <= 1, "\(published)")
                }
                #expect(try await daemon.stop() == 0, "\(daemon.log.suffix(2000))")
            }
            #expect(try bench.lines("notification", app: "modern").count == 4)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file to another user"))
    func `a line that is not the daemon's refuses no token`() async throws {
        try await running { bench, way in
            let now = WallTime(nanoseconds: WallClock.nanoseconds())
            let forged = "spool/modern/feedback/\(now.compact)-node-a.jsonl"
            let line =
                #"{"v":1,"kind":"token","app":"modern","node":"node-a","token":"\#(token(1))","verdict":"gone","#
                + #""gone_since":"\#(now.rfc3339)","source":"feedback_service"}"# + "\n"
            try bench.write(forged, line)
            try #require(unsafe chown("\(bench.path)/\(forged)", 65534, 65534) == 0)
            try await way.open { door in
                try await door.program.says("feedback file is skipped")
                #expect(try await door.ask(1).status == "200")
                // The same line in a file of the daemon's user is heeded.
                try #require(unsafe chown("\(bench.path)/\(forged)", 0, 0) == 0)
                try bench.write(forged + ".x", "")
                try await eventually("410") { try await door.ask(1).status == "410" }
            }
        }
    }

    @Test func `an answer that does not come in time says so`() async throws {
        try await withFaults("answer: gateway, wait: 300ms", script: "nth=1 withhold") { _, door in
            let answer = try await door.ask(3)
            #expect(answer.status == "200" && answer.field("pushspool-spooled") == "1", "\(answer.text)")
        }
    }

    @Test func `the answer to a request whose job is cancelled before it is claimed does not wait`() async throws {
        try await withFaults("answer: gateway, wait: 60s") { bench, door in
            #expect(try await bench.operate("pause", "modern").code == 0)
            let id = ["--header", "apns-id: \(UUID())"]
            for _ in 1...2 {
                let request = try door.begin(3, id)
                try await eventually("a job waits") { !bench.names(in: "modern/new").isEmpty }
                #expect(try await bench.operate("cancel", "--all").code == 0)
                // The client may send it again, as a new one.
                #expect(try await door.answer(to: request).status == "503")
            }
        }
    }

    @Test func `metrics count what the relay did`() async throws {
        try await running("metrics: {listen: \"unix:/tmp/pushspool-door-\(getpid()).sock\"}") { bench, way in
            try await way.open { door in
                _ = try await door.ask(1)
                _ = try await door.ask(2, ["--header", "apns-priority: 3"])
                let curl = try Program(
                    "/usr/bin/env",
                    [
                        "curl", "--silent", "--unix-socket", "/tmp/pushspool-door-\(getpid()).sock",
                        "http://localhost/metrics",
                    ], logs: bench.path + "/logs")
                #expect(try await curl.end() == 0)
                for line in [
                    "pushspool_door_requests_total{door=\"apns\"} 2", "pushspool_door_jobs_total{door=\"apns\"} 1",
                    "pushspool_door_requests_accepted_total{door=\"apns\"} 1",
                    "pushspool_door_requests_refused_total{door=\"apns\",reason=\"BadPriority\"} 1",
                    "pushspool_door_drop_duration_seconds_count{door=\"apns\"} 1",
                ] {
                    #expect(curl.text.contains(line + "\n"), "\(curl.text)")
                }
            }
        }
    }

    @Test func `a producer may use its whole rate at once, and is then told to wait at every door`() async throws {
        try await running { bench, way in
            let doors = "http: {listen: \"127.0.0.1:0\"}\nxmlrpc: {listen: \"127.0.0.1:0\", producer: fleet}"
            try way.configure(doors, rate: "5/h")
            try await way.open { door in
                // What is refused does not count, and other producers count for themselves.
                #expect(try await door.ask(1, ["--header", "apns-priority: 3"]).status == "400")
                #expect(try await door.call("POST", "/v1/apps/modern/jobs", Self.json, body: "[").status == "422")
                let (files, new) = (FileManager.default, "\(bench.path)/spool/modern/new")
                try files.moveItem(atPath: new, toPath: new + "-away")
                // The daemon makes the folder again as soon as it misses it, and only where nothing is.
                try await eventually("a file has the place of new/") {
                    try? files.removeItem(atPath: new)
                    return files.createFile(atPath: new, contents: nil)
                }
                for number in 1...3 { #expect(try await door.ask(number).status == "503") }
                try files.removeItem(atPath: new)
                try files.createDirectory(atPath: new, withIntermediateDirectories: true)
                for number in 1...4 { #expect(try await door.ask(number).status == "200") }
                #expect(try await door.notify(5).contains("<nil/>"))
                #expect(try await door.notify(6).contains("rate is used up"))
                let answer = try await door.ask(7)
                #expect(answer.status == "429" && answer.text.contains("TooManyRequests"), "\(answer.text)")
                let jobs = (1...6).map { #"{"token":"\#(token($0))","alert":"x"}"# }
                var answers: [OpenDoor.Answer] = []
                for job in jobs {
                    answers.append(try await door.call("POST", "/v1/apps/modern/jobs", Self.json, body: job))
                }
                #expect(answers.map(\.status) == ["202", "202", "202", "202", "202", "429"])
                let wait = try #require(answers.last?.field("Retry-After").flatMap { Int($0) })
                #expect((3000...3601).contains(wait))
            }
        }
    }

    private static let json = ["--header", "Content-Type: application/json"]

    @Test func `pushspool check finds what is wrong between the doors and the apps`() async throws {
        try await Modern().running { bench in
            try bench.configureModern()
            try bench.configureModern(as: "twin")
            let command = ["check", "--config", "\(bench.path)/etc/pushspool.yaml"]
            #expect(try await bench.run(command).code == 0)
            let producers = "producers: {a: {certificate: a.pem, apps: \"*\"}, b: {certificate: b.pem, apps: [modem]}}"
            let relay = "apns: {listen: \"127.0.0.1:0\", certificate: door.pem}"
            try bench.write("etc/doors.yaml", "\(producers)\n\(relay)\n")
            let end = try await bench.run(command)
            #expect(end.code == 78, "\(end)")
            #expect(end.log.contains("error: producers.a.apps: modern and twin have the same topic"), "\(end.log)")
            #expect(end.log.contains("warning: producers.b.apps: no app is called `modem`"), "\(end.log)")
            #expect(end.log.contains("hint: did you mean `modern`?"), "\(end.log)")
        }
    }

    @Test func `a configuration with faults does not open a door, and each fault is told`() async throws {
        try await Modern().running { bench in
            let way = try Doorway(bench)
            try way.configure("limits: {waiting: 0}", apps: "[a/b]", rate: "much")
            let program = try Program(
                try BuiltProgram.doorPath, ["run", "--config", "\(bench.path)/door/doors.yaml"],
                logs: bench.path + "/logs")
            #expect(try await program.end() == 78)
            for words in [
                "limits.waiting: 0 is out of range", "producers.fleet.apps: `a/b` is not", "producers.fleet.rate",
            ] {
                #expect(program.log.contains(words), "\(program.log)")
            }
        }
    }

    @Test func `a daemon whose gateway is its own door stops, and loses nothing`() async throws {
        try await Modern().serving { bench, daemon in
            try await Doorway(bench).open { door in
                let port = try #require(Int(door.port(of: "relay")))
                let file = TokenApp.file(home: bench.path, port: port)
                try bench.write("etc/apps/modern.yaml", file.replacing("/certificates/ca.pem", with: "/door/ca.pem"))
                daemon.send(SIGHUP)
                try await daemon.says("app reconfigured")
                #expect(try await door.ask(1).status == "200")
                try await daemon.says("app stopped")
                try await daemon.says("the gateway answered OwnDoor (status 403)")
                try await daemon.says("let `gateway`, and this host's name service, lead to Apple instead")
                try bench.configureModern()
                daemon.send(SIGHUP)
                let ledger = try await bench.accepted(1)
                let line = try await awaited("a line") { try bench.lines("job", app: "modern").first }
                #expect(ledger.arrivedCount == 1 && line.accepted == 1)
                #expect(bench.names(in: "modern/new").isEmpty)
            }
        }
    }
}
