import Foundation
import GatewaySimulator
import TestSupport
import Testing

/// `pushspool test`, run as a program, against simulated gateways.
struct SendTestTests {
    private typealias Result = (code: Int32, text: String, log: String)

    private func send(_ bench: Bench, _ words: String...) async throws -> Result {
        try await bench.run(["test", "--config", "\(bench.path)/etc/pushspool.yaml"] + words)
    }

    /// Has a gateway follow a script, and looks at what the command says to the answer.
    private func sending(
        _ script: String, _ words: [String] = [], _ look: @Sendable (Result) -> Void
    ) async throws {
        try await Modern(script).running { bench in
            try bench.configureModern()
            let command = ["test", "--config", "\(bench.path)/etc/pushspool.yaml", "modern", token(1)]
            look(try await bench.run(command + words))
        }
    }

    @Test func `an accepted notification is printed with its apns-id, and has left nothing in the spool`() async throws
    {
        try await Modern().running { bench in
            try bench.configureModern()
            let sent = try await send(bench, "modern", token(1), "--alert", "Is it you?")
            let entry = try #require(await bench.simulator.ledger.accepted.first, "\(sent)")
            let id = try #require(entry.request?["apns-id"])
            #expect(sent.code == 0 && sent.text.hasPrefix("modern: accepted, apns-id \(id)"), "\(sent)")
            #expect(String(decoding: entry.payload, as: UTF8.self) == #"{"aps":{"alert":"Is it you?"}}"#)
            #expect(entry.token == bytes(of: 1) && bench.names(in: "").isEmpty)
        }
    }

    @Test func `the answer as JSON has the id`() async throws {
        try await sending("", ["--json"]) { sent in
            let start = #"{"app":"modern","outcome":"accepted","apns_id":""#
            #expect(sent.code == 0 && sent.text.hasPrefix(start), "\(sent)")
        }
    }

    @Test(arguments: [
        ("status=410 reason=Unregistered", 65, "410 Unregistered: the token is no longer valid", "delete this one"),
        ("status=400 reason=BadDeviceToken", 65, "belongs to another environment", "check environment"),
        ("status=403 reason=InvalidProviderToken", 78, "refuses the app: ", "check that key_id, team_id"),
        ("status=503 reason=ServiceUnavailable", 75, "ServiceUnavailable (status 503)", "try again later"),
    ])
    func `a refusal is explained, with the remedy`(
        script: String, code: Int32, words: String, hint: String
    ) async throws {
        try await sending("answer \(script)") { sent in
            #expect(sent.code == code && sent.log.contains(words) && sent.text.isEmpty, "\(sent)")
            let last = sent.log.split(separator: "\n").last ?? ""
            #expect(last.hasPrefix("hint: ") && last.contains(hint), "\(sent)")
        }
    }

    @Test func `a gateway that does not answer is named after the time limit`() async throws {
        try await sending("withhold", ["--timeout", "1"]) { sent in
            #expect(sent.code == 75 && sent.log.contains("no answer within 1 s"), "\(sent)")
        }
    }

    @Test(arguments: [
        (["modern", "0xAB"], 65, "token: the token is hexadecimal, but its character 2 is `x`", "remove 0x"),
        (["wether", "ab"], 78, "no app is named wether", "configured: modern"),
        (["modern", "ab", "--timeout", "0"], 64, "--timeout takes 1 to 3600 seconds", "test --help"),
    ])
    func `wrong input is refused before anything is sent`(
        words: [String], code: Int32, message: String, hint: String
    ) async throws {
        try await Modern().running { bench in
            try bench.configureModern()
            let sent = try await bench.run(["test", "--config", "\(bench.path)/etc/pushspool.yaml"] + words)
            #expect(sent.code == code && sent.log.contains(message) && sent.log.contains(hint), "\(sent)")
            #expect(await bench.simulator.ledger.entries.isEmpty)
        }
    }

    @Test func `a gateway that cannot be reached is a fault, with a hint`() async throws {
        try await Modern().running { bench in
            try bench.write("etc/apps/modern.yaml", TokenApp.file(home: bench.path, port: 1))
            let sent = try await send(bench, "modern", token(1))
            #expect(
                sent.code == 78 && sent.log.contains("127.0.0.1:1: Connection refused")
                    && sent.log.contains("\nhint: "), "\(sent)")
        }
    }

    @Test func `over the binary protocol silence accepts, and an error frame refuses`() async throws {
        try await Bench.running(try .init(script: "token=\(token(2)) refuse status=8")) { bench in
            let accepted = try await send(bench, "weather", token(1))
            #expect(accepted.code == 0 && accepted.text == "weather: accepted\n", "\(accepted)")
            let refused = try await send(bench, "weather", token(2))
            #expect(refused.code == 65 && refused.log.contains("belongs to another environment"), "\(refused)")
        }
    }

    @Test func `FCM's name of an accepted message is printed, and its refusal explained`() async throws {
        let (project, file) = try FCMProject.throwaway()
        var setup = try Bench.Setup(script: "port=fcm nth=2 answer reason=UNREGISTERED")
        setup.hasApp = false
        setup.gateway.fcm.rules.projects = [project]
        try await Bench.running(setup) { bench in
            try bench.write("etc/account.json", String(decoding: file, as: UTF8.self))
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: "\(bench.path)/etc/account.json")
            try bench.write(
                "etc/apps/droid.yaml",
                """
                protocol: fcm
                credentials: {service_account: ../account.json}
                gateway: localhost:\(bench.simulator.ports.fcm)
                token_gateway: localhost:\(bench.simulator.ports.oauth)
                trust: \(bench.path)/certificates/ca.pem

                """)
            let address = "dQw4w9WgXcQ-_AbCdEfGhI:APA91bHcX0u3rZtY8kq2"
            let accepted = try await send(bench, "droid", address)
            #expect(accepted.code == 0, "\(accepted)")
            #expect(accepted.text.hasPrefix("droid: accepted, projects/\(project.id)/messages/"), "\(accepted)")
            let refused = try await send(bench, "droid", address)
            #expect(refused.code == 65 && refused.log.contains("404 UNREGISTERED"), "\(refused)")
        }
    }
}
