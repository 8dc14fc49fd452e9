import Foundation
import GatewaySimulator
import TestSupport
import Testing

/// `pushspool channel`, run as a program, against a gateway that manages channels.
@Suite struct ChannelCommandTests {
    private typealias Result = (code: Int32, text: String, log: String)

    /// Lets a request wait for its answer long enough on a busy machine, and not longer than the tests can.
    private static let patience = "timeouts: {answer: 10s}"
    private static let job =
        #"{"channel":"goals","payload":{"aps":{"event":"update","timestamp":1795262400,"content-state":{"home":2}}}}"#

    private func command(_ bench: Bench, _ action: String, _ words: String...) -> [String] {
        ["channel", action, "--config", "\(bench.path)/etc/pushspool.yaml", "--app", "modern"] + words
    }

    private func channel(_ bench: Bench, _ action: String, _ words: String...) async throws -> Result {
        try await bench.run(
            ["channel", action, "--config", "\(bench.path)/etc/pushspool.yaml", "--app", "modern"] + words)
    }

    private func create(_ bench: Bench, _ name: String = "goals") async throws -> Result {
        try await channel(bench, "create", name, "--policy", "latest")
    }

    /// How often the gateway was asked to create a channel.
    private func creationCount(_ bench: Bench) async -> Int {
        await bench.simulator.ledger.channelRequests.count { $0.request[":method"] == "POST" }
    }

    private func names(_ bench: Bench) throws -> String {
        try String(contentsOfFile: "\(bench.path)/etc/apps/modern.channels.json", encoding: .utf8)
    }

    /// The files of the apps' folder that are left behind, apart from the lock.
    private func leftovers(_ bench: Bench) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(bench.path)/etc/apps").filter {
            $0.hasPrefix(".") && !$0.hasSuffix(".lock")
        }
    }

    @Test func `a channel lives from its creation to its end, and a running daemon knows its name at once`()
        async throws
    {
        try await Modern { $0.channels = [:] }.serving { bench, daemon in
            try bench.drop("one.json", #"{"token":"\#(token(1))","alert":"x"}"#, app: "modern")
            #expect(try await bench.end(of: "one.json", app: "modern").accepted == 1)
            let made = try await create(bench)
            #expect(made.code == 0 && made.log.isEmpty, "\(made)")
            let id = try #require(made.text.split(separator: "\n").first.map(String.init))
            try bench.drop("goal.json", Self.job, app: "modern")
            let line = try await bench.end(of: "goal.json", app: "modern")
            #expect(line.accepted == 1, "\(line)\n\(daemon.log.suffix(2000))")
            #expect(try names(bench) == "{\n\"goals\":{\"id\":\"\(id)\",\"policy\":\"latest\"}\n}\n")
            try bench.drop("two.json", #"{"token":"\#(token(2))","alert":"x"}"#, app: "modern")
            #expect(try await bench.end(of: "two.json", app: "modern").accepted == 1)
            let entries = await bench.simulator.ledger.accepted
            let devices = entries.filter { $0.request?[":path"]?.hasPrefix("/3/device/") == true }
            #expect(Set(devices.map(\.connection)).count == 1, "a new name closes no connection")
            let listed = try await channel(bench, "list")
            #expect(listed.text == "name   policy  registered  id\ngoals  latest  yes         \(id)\n")
            #expect(try await channel(bench, "show", id).text == "goals: id \(id), policy latest\n")
            #expect(try await channel(bench, "delete", "goals").text == "goals: deleted\n")
            #expect(try names(bench) == "{\n\n}\n")
            try bench.drop("late.json", Self.job, app: "modern")
            #expect(try await bench.end(of: "late.json", app: "modern").code == "invalid")
            let gone = try await channel(bench, "delete", "goals")
            #expect(gone.code == 65 && gone.log.contains("no channel of modern is named goals"), "\(gone)")
            #expect(try await channel(bench, "list").text.isEmpty)
        }
    }

    @Test func `each command has its line of JSON`() async throws {
        try await Modern { $0.channels = [:] }.running { bench in
            try bench.configureModern()
            let made = try await channel(bench, "create", "goals", "--policy", "none", "--json")
            let start = #"{"app":"modern","channel":"goals","id":""#
            #expect(made.text.hasPrefix(start), "\(made)")
            let id = String(made.text.dropFirst(start.count).prefix { $0 != "\"" })
            let line = start + id + #"","policy":"none","registered":true"#
            #expect(made.text == line + #","created":true}"# + "\n")
            #expect(try await channel(bench, "list", "--json").text == line + "}\n")
            #expect(try await channel(bench, "show", "goals", "--json").text == line + "}\n")
            let again = try await channel(bench, "create", "goals", "--policy", "none", "--json")
            #expect(again.text == line + #","created":false}"# + "\n")
            let deleted = try await channel(bench, "delete", id, "--json")
            #expect(deleted.text == start + id + #"","registered":false,"deleted":true}"# + "\n")
        }
    }

    @Test func `what arrives at the gateway is what Apple's page shows, and nothing else`() async throws {
        try await Modern { $0.channels = [:] }.running { bench in
            try bench.configureModern()
            let id = try #require(try await create(bench).text.split(separator: "\n").first)
            _ = try await channel(bench, "show", "goals")
            _ = try await channel(bench, "delete", "goals")
            let requests = await bench.simulator.ledger.channelRequests
            let (one, all) = ("/1/apps/com.example.weather/channels", "/1/apps/com.example.weather/all-channels")
            func head(_ method: String, _ path: String, _ more: String...) -> [String] {
                let host = ":authority: localhost:\(bench.simulator.ports.http2)"
                return [":method: \(method)", ":scheme: https", host, ":path: \(path)", "authorization: bearer"] + more
            }
            let heads = requests.map { arrived in
                arrived.request.fields.map { field in
                    "\(field.name): \(field.name == "authorization" ? String(field.value.prefix(6)) : field.value)"
                }
            }
            #expect(
                heads == [
                    head("GET", all), head("POST", one, "content-length: 55"),
                    head("GET", one, "apns-channel-id: \(id)"), head("DELETE", one, "apns-channel-id: \(id)"),
                ])
            #expect(
                requests.map { String(decoding: $0.body, as: UTF8.self) }
                    == ["", #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#, "", ""])
        }
    }

    @Test func `a creation can be repeated, and its policy cannot be changed`() async throws {
        try await Modern { $0.channels = [:] }.running { bench in
            try bench.configureModern()
            let (first, second) = (try await create(bench), try await create(bench))
            #expect(first.code == 0 && second.code == 0 && first.text == second.text, "\(second)")
            #expect(second.log.contains("the channel goals existed before"))
            let other = try await channel(bench, "create", "goals", "--policy", "none")
            #expect(other.code == 65 && other.log.contains("a policy cannot be changed"), "\(other)")
            #expect(await creationCount(bench) == 1)
        }
    }

    @Test func `a creation whose answer is lost is looked up and not repeated`() async throws {
        try await Modern("payload=message-storage times=1 withhold") { $0.channels = [:] }.running { bench in
            try bench.configureModern(Self.patience)
            let made = try await create(bench)
            #expect(made.code == 0, "\(made)")
            let id = try #require(made.text.split(separator: "\n").first)
            #expect(try names(bench).contains(id) && leftovers(bench).isEmpty)
            #expect(await creationCount(bench) == 1)
        }
    }

    @Test(arguments: ["reset", "goaway undone=1", "refuse-stream", "answer status=503 reason=ServiceUnavailable"])
    func `a creation that had no effect is repeated after a look`(fault: String) async throws {
        try await Modern("payload=message-storage times=1 \(fault)") { $0.channels = [:] }.running { bench in
            try bench.configureModern(Self.patience)
            var made = try await create(bench)
            // What the gateway says that it did not do is left to the operator.
            if made.code == 75 { made = try await create(bench) }
            #expect(made.code == 0, "\(made)")
            let listed = try await channel(bench, "list", "--json")
            #expect(listed.text.split(separator: "\n").count == 1 && listed.text.contains("goals"), "\(listed)")
            #expect(try leftovers(bench).isEmpty)
        }
    }

    @Test func `a command that is killed before the answer is completed by the next`() async throws {
        try await Modern("payload=message-storage times=1 withhold") { $0.channels = [:] }.running { bench in
            try bench.configureModern()
            let killed = try bench.start(command(bench, "create", "goals", "--policy", "latest"))
            _ = try await bench.simulator.ledger { ledger in
                ledger.channelRequests.contains { $0.request[":method"] == "POST" }
            }
            try await killed.destroy()
            #expect(try leftovers(bench) == [".modern.channels.pending"])
            let listed = try await channel(bench, "list", "--json")
            #expect(listed.text.contains(#""registered":true"#) && !listed.text.contains("goals"), "\(listed)")
            let made = try await create(bench)
            #expect(made.code == 0 && made.log.isEmpty, "\(made)")
            #expect(try leftovers(bench).isEmpty)
            #expect(await creationCount(bench) == 1)
        }
    }

    @Test func `of several new channels none is guessed, and the one that is named by hand settles it`() async throws {
        try await Modern("payload=message-storage times=1 withhold") { $0.channels = [:] }.running { bench in
            try bench.configureModern()
            let killed = try bench.start(command(bench, "create", "goals", "--policy", "latest"))
            _ = try await bench.simulator.ledger { $0.channelRequests.contains { $0.request[":method"] == "POST" } }
            try await killed.destroy()
            let pending = "\(bench.path)/etc/apps/.modern.channels.pending"
            let record = try Data(contentsOf: URL(fileURLWithPath: pending))
            // Another one is created on another host.
            try FileManager.default.removeItem(atPath: pending)
            let other = try await create(bench, "other")
            try FileManager.default.removeItem(atPath: "\(bench.path)/etc/apps/modern.channels.json")
            try record.write(to: URL(fileURLWithPath: pending))
            let unsure = try await create(bench)
            #expect(unsure.code == 65 && unsure.log.contains("there are 2 new channels"), "\(unsure)")
            let id = try #require(other.text.split(separator: "\n").first)
            try bench.configureModern("channels: {other: {id: \"\(id)\", policy: latest}}")
            let made = try await create(bench)
            #expect(made.code == 0 && !made.text.contains(id), "\(made)")
            #expect(await creationCount(bench) == 2)
        }
    }

    @Test(
        arguments: [
            ("BadChannelId", 65, "see `pushspool channel list`"), ("ChannelNotRegistered", 65, "one environment"),
            ("BadRequestParams", 65, "Apple's page"), ("FeatureNotEnabled", 78, "switch broadcast on"),
            ("TopicMismatch", 78, "bundle identifier"), ("CannotCreateChannelConfig", 78, "delete unused channels"),
            ("InvalidProviderToken", 78, "key_id"), ("ExpiredProviderToken", 78, "clock"),
            ("TooManyRequests", 75, "repeat the command"), ("ServiceUnavailable", 75, "repeat the command"),
        ])
    func `each refusal has its reason, its remedy and its status`(
        reason: String, code: Int32, hint: String
    ) async throws {
        try await Modern("every=1 answer reason=\(reason)").running { bench in
            try bench.configureModern()
            let result = try await channel(bench, "show", "YWJj")
            #expect(result.code == code && result.text.isEmpty, "\(result)")
            #expect(result.log.contains("the gateway refused: \(reason)") && result.log.contains(hint), "\(result.log)")
        }
    }

    @Test func `a certificate manages channels, too, and a gateway that is not there is said so`() async throws {
        try await Modern { $0.channels = [:] }.running { bench in
            let app = """
                protocol: http2
                environment: sandbox
                credentials: {certificate: \(bench.path)/certificates/client.pem}
                trust: \(bench.path)/certificates/ca.pem

                """
            try bench.write("etc/apps/modern.yaml", app + "gateway: localhost:\(bench.simulator.ports.http2)\n")
            let made = try await create(bench)
            #expect(made.code == 0, "\(made)")
            #expect(await bench.simulator.ledger.channelRequests.allSatisfy { $0.request["authorization"] == nil })
            try bench.write("etc/apps/modern.yaml", app + "gateway: localhost:1\n")
            let lost = try await channel(bench, "list")
            #expect(lost.code == 75 && lost.log.contains("127.0.0.1:1: Connection refused"), "\(lost)")
        }
    }

    @Test func `what cannot have channels, and who cannot be an app, is refused with a remedy`() async throws {
        try await Modern().running { bench in
            try bench.configureApp("modern")
            let binary = try await channel(bench, "list")
            #expect(binary.code == 78 && binary.log.contains("use an app with protocol: http2"), "\(binary)")
            try bench.configureModern()
            let config = ["--config", "\(bench.path)/etc/pushspool.yaml"]
            let unknown = try await bench.run(["channel", "list", "--app", "other"] + config)
            #expect(unknown.code == 78 && unknown.log.contains("configured: modern"), "\(unknown)")
            let name = try await channel(bench, "create", "-x", "--policy", "none")
            #expect(name.code == 64, "\(name)")
            let wrong = try await channel(bench, "create", ".x", "--policy", "none")
            #expect(wrong.code == 65 && wrong.log.contains("not a valid name"), "\(wrong)")
            let policy = try await channel(bench, "create", "goals", "--policy", "all")
            #expect(policy.code == 64 && policy.log.contains("none"), "\(policy)")
        }
    }
}
