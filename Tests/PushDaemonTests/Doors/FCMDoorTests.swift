import Foundation
import GatewaySimulator
import TestSupport
import Testing

/// The doors before a spool with an app for Apple's gateway, `modern`, and two for FCM, `android` and `tablet`. No daemon takes
/// the jobs, so that they can be read where the doors drop them.
@Suite struct FCMDoorTests {
    private static let json = ["--header", "Content-Type: application/json"]
    private static let tokens = ["cGxhbnQtMTIzNDU2Nzg5MA:APA91bOne", "cGxhbnQtMTIzNDU2Nzg5MA:APA91bTwo"]

    /// Opens doors that `apps` may be used through.
    private func open(
        _ apps: String, _ doors: String = "", _ body: @Sendable (Bench, OpenDoor) async throws -> Void
    ) async throws {
        try await Modern().running { bench in
            try bench.configureModern()
            let account = try ThrowawayServiceAccount().file
            try bench.write("etc/apps/account.json", String(decoding: account, as: UTF8.self))
            for app in ["android", "tablet"] {
                try bench.write(
                    "etc/apps/\(app).yaml",
                    """
                    protocol: fcm
                    credentials: {service_account: account.json}
                    gateway: localhost:\(bench.simulator.ports.http2)
                    token_gateway: localhost:\(bench.simulator.ports.http2)

                    """)
            }
            try await bench.publishApps()
            let way = try Doorway(bench)
            try way.configure("http: {listen: \"127.0.0.1:0\"}\n" + doors, apps: apps)
            try await way.open { door in
                try await body(bench, door)
                #expect(try await door.program.stop() == 0, "\(door.program.log)")
            }
        }
    }

    /// The jobs that wait in the app's folder.
    private func jobs(_ app: String, in bench: Bench) throws -> [String] {
        try bench.names(in: app + "/new").map { try bench.contents("\(app)/new/\($0)") }
    }

    private func push(_ notifications: String, _ query: String = "", through door: OpenDoor) async throws -> String {
        let answer = try await door.call("POST", "/api/push" + query, body: "{\"notifications\":[\(notifications)]}")
        #expect(answer.status == "200", "\(answer.text)")
        return answer.body
    }

    @Test func `a request of gorush's may be for both platforms`() async throws {
        try await open("[modern, android]") { bench, door in
            let body = """
                {"tokens":["\(token(1))"],"platform":1,"title":"Hi"},
                {"tokens":["\(Self.tokens[0])","bad token"],"topic":"news","platform":2,"title":"Hi","data":{"n":1}}
                """
            let answer = try await push(body, through: door)
            let log = #"{"type":"failed-push","platform":"android","token":"bad token","message":"","error":"#
            #expect(answer.hasPrefix(#"{"success":"ok","counts":4,"logs":[\#(log)"#), "\(answer)")
            #expect(
                try jobs("modern", in: bench) == [
                    #"{"token":"\#(token(1))","payload":{"aps":{"alert":{"title":"Hi"}}}}"#
                ])
            let message = #""notification":{"title":"Hi"},"data":{"n":"1"}}"#
            #expect(
                try jobs("android", in: bench).sorted() == [
                    #"{"tokens":["\#(Self.tokens[0])","bad token"],"# + message, #"{"topic":"news","# + message,
                ])
        }
    }

    @Test func `the query chooses among several FCM apps`() async throws {
        try await open("[modern, android, tablet]") { bench, door in
            let notification = #"{"to":"\#(Self.tokens[0])","platform":2,"title":"Hi"}"#
            let cases: [(query: String, error: String?)] = [
                ("", "android, tablet are FCM apps; choose one: /api/push?app=android"),
                ("?app=modern", "there is no FCM app modern"), ("?app=other", "there is no FCM app other"),
                ("?app=tablet", nil),
            ]
            for (query, error) in cases {
                let answer = try await push(notification, query, through: door)
                let logs = error.map { "\"error\":\"\($0)\"}]}" } ?? "\"logs\":[]}"
                #expect(answer.hasSuffix(logs), "\(query): \(answer)")
            }
            #expect(try jobs("tablet", in: bench).count == 1 && jobs("android", in: bench).isEmpty)
        }
    }

    @Test func `a notification for iOS never gets to an FCM app`() async throws {
        try await open("[android]") { bench, door in
            let answer = try await push(#"{"to":"\#(token(1))","platform":1,"title":"Hi"}"#, through: door)
            #expect(answer.contains("no app, or more than one, has the topic and the environment"), "\(answer)")
            #expect(try jobs("android", in: bench).isEmpty)
        }
    }

    @Test(arguments: [
        (#"{"token":"TOKEN","notification":{"title":"Hi"}}"#, "202", #""recipients":1,"rejected":0}"#),
        (#"{"topic":"news","alert":"Hi"}"#, "202", #""recipients":1,"rejected":0}"#),
        (#"{"tokens":["TOKEN","bad token"],"alert":"Hi"}"#, "202", #""recipients":2,"rejected":1,"#),
        (#"{"token":"TOKEN","data":{"n":1}}"#, "422", #""path":"data.n","message":"must be text"#),
        (#"{"token":"TOKEN","alert":"Hi","push_type":"alert"}"#, "422", "FCM has no push types"),
    ])
    func `a job for an FCM app is checked as the daemon will`(_ job: String, _ status: String, _ part: String)
        async throws
    {
        try await open("[android]") { bench, door in
            let job = job.replacing("TOKEN", with: Self.tokens[0])
            let answer = try await door.call("POST", "/v1/apps/android/jobs", Self.json, body: job)
            #expect(answer.status == status && answer.body.contains(part), "\(answer.text)")
            #expect(try jobs("android", in: bench) == (status == "202" ? [job] : []))
        }
    }

    @Test func `feedback about FCM's addresses is read as it stands`() async throws {
        try await open("[android]") { bench, door in
            let lines = """
                {"v":1,"kind":"notification","app":"android","index":1,"token":"\(Self.tokens[0])","outcome":"rejected","status":404,"reason":"UNREGISTERED","verdict":"gone"}
                {"v":1,"kind":"notification","app":"android","index":2,"fid":"cGxhbnQtMTIzNDU2Nzg5MA","outcome":"accepted","message_name":"projects/p/messages/1"}
                {"v":1,"kind":"notification","app":"android","index":1,"condition":"'a' in topics","outcome":"accepted"}

                """
            try bench.write("spool/android/feedback/20200101T000000.000000Z-test.jsonl", lines)
            let answer = try await door.call("GET", "/v1/apps/android/feedback")
            #expect(answer.status == "200" && answer.body == lines, "\(answer.text)")
        }
    }

    @Test func `pyapns' clients cannot use an FCM app`() async throws {
        try await open("[android]", "xmlrpc: {listen: \"127.0.0.1:0\"}") { bench, door in
            let answer = try await door.notify(1, app: "android")
            #expect(answer.contains("android is an FCM app, and this door pushes to Apple's devices only"), "\(answer)")
            #expect(try jobs("android", in: bench).isEmpty)
        }
    }

    @Test func `py-apnsd's clients cannot use an FCM app, and the doctor says so`() async throws {
        try await open("[android]", "zeromq: {bind: \"tcp://127.0.0.1:0\", app: android}") { bench, door in
            let refusal = "android is an FCM app, and this door pushes to Apple's devices only; use the JSON door"
            let replies = try await door.talk(["send +60 1 \(token(1)) hello", "feedback"])
            #expect(replies == ["ERROR \(refusal)", "ERROR \(refusal)"])
            #expect(try jobs("android", in: bench).isEmpty)
            let doctor = try Program(
                BuiltProgram.doorPath, ["doctor", "--config", "\(bench.path)/door/doors.yaml"],
                logs: bench.path + "/logs")
            _ = try await doctor.end()
            #expect(doctor.text.contains("zeromq.app: android is an FCM app"), "\(doctor.text)")
        }
    }
}
