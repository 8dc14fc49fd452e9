import Foundation
import GatewaySimulator
import TestSupport
import Testing

/// `pushspool app add`, run as a program.
struct AddAppTests {
    private typealias Result = (code: Int32, text: String, log: String)

    private static let options = [
        "--environment", "sandbox", "--topic", "com.example.weather", "--team", "DEF123GHIJ",
    ]

    private func add(_ bench: Bench, _ words: [String]) async throws -> Result {
        try await bench.run(["app", "add", "--config", "\(bench.path)/etc/pushspool.yaml"] + words)
    }

    private func file(_ bench: Bench, _ app: String = "new") throws -> String {
        try String(contentsOfFile: "\(bench.path)/etc/apps/\(app).yaml", encoding: .utf8)
    }

    /// Puts a key into the folder of the configuration, under a name with its id.
    private func key(_ bench: Bench, at path: String = "etc/AuthKey_ABC123DEFG.p8", mode: Int = 0o600) throws -> String
    {
        let all = "\(bench.path)/\(path)"
        try FileManager.default.copyItem(atPath: "\(bench.path)/etc/key.p8", toPath: all)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: all)
        return all
    }

    @Test func `a key's name gives the key id, and the app can send`() async throws {
        try await Modern().running { bench in
            let key = try key(bench)
            let added = try await add(bench, ["new", key] + Self.options)
            #expect(added.code == 0 && added.log.contains("pushspool test --config"), "\(added)")
            #expect(added.text.hasPrefix("\(bench.path)/etc/apps/new.yaml: sandbox at api.sandbox.push.apple.com:443"))
            let text = try file(bench)
            let expected = """
                protocol: http2
                environment: sandbox
                topic: com.example.weather
                credentials:
                  token:
                    key: \(key)
                    key_id: ABC123DEFG
                    team_id: DEF123GHIJ

                """
            #expect(text.hasSuffix("\n" + expected), "\(text)")
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(bench.path)/etc/apps/new.yaml")
            #expect(attributes[.posixPermissions] as? Int == 0o644)
            let more = "gateway: localhost:\(bench.simulator.ports.http2)\ntrust: \(bench.path)/certificates/ca.pem\n"
            try bench.write("etc/apps/new.yaml", text + more)
            let sent = try await bench.run(
                ["test", "--config", "\(bench.path)/etc/pushspool.yaml", "new", token(1)])
            #expect(sent.code == 0, "\(sent)")
        }
    }

    @Test func `a key beside the app's file is named alone, and a name without an id needs one`() async throws {
        try await Modern().running { bench in
            let key = try key(bench, at: "etc/apps/k.p8")
            let lacking = try await add(bench, ["new", key] + Self.options)
            #expect(lacking.code == 65 && lacking.log.contains("--key-id: is missing"), "\(lacking)")
            let added = try await add(bench, ["new", key, "--key-id", "ABC123DEFG"] + Self.options)
            #expect(added.code == 0, "\(added)")
            #expect(try file(bench).contains("\n    key: k.p8\n"))
        }
    }

    @Test func `a service account is an FCM app, and a certificate one of Apple's`() async throws {
        try await Bench.running(try .init()) { bench in
            let account = "\(bench.path)/etc/weather-adminsdk.json"
            try bench.write(
                "etc/weather-adminsdk.json", String(decoding: try ThrowawayServiceAccount().file, as: UTF8.self))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: account)
            let droid = try await add(bench, ["droid", account])
            #expect(droid.code == 0 && droid.text.contains("project weather-4711 at fcm.googleapis.com"), "\(droid)")
            #expect(try file(bench, "droid").contains("protocol: fcm\ncredentials:\n  service_account: \(account)\n"))
            let certificate = "\(bench.path)/certificates/client.pem"
            let apple = try await add(bench, ["apple", certificate, "--environment", "sandbox"])
            #expect(apple.code == 0, "\(apple)")
            #expect(try file(bench, "apple").contains("\n  certificate: \(certificate)\n"))
            let old = try await add(
                bench, ["old", certificate, "--protocol", "binary", "--environment", "sandbox"])
            #expect(old.code == 0, "\(old)")
            #expect(try file(bench, "old").contains("\nprotocol: binary\n"))
        }
    }

    @Test func `a key that others could replace is refused with the folder's remedy`() async throws {
        try await Modern().running { bench in
            let folder = "\(bench.path)/etc/open"
            try FileManager.default.createDirectory(atPath: "\(folder)/keys", withIntermediateDirectories: true)
            let key = try key(bench, at: "etc/open/keys/AuthKey_ABC123DEFG.p8")
            for (mode, isSafe) in [(0o777, false), (0o775, false), (0o1777, true), (0o755, true)] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder)
                let added = try await add(bench, ["new\(mode)", key] + Self.options)
                #expect(added.code == (isSafe ? 0 : 65), "\(added)")
                let fault = "\(folder) can be written by group or others\nhint: chmod go-w \(folder)"
                #expect(added.log.contains(fault) == !isSafe, "\(added)")
            }
        }
    }

    @Test func `a file that is there is not overwritten`() async throws {
        try await Modern().running { bench in
            try bench.write("etc/apps/new.yaml", "mine\n")
            let added = try await add(bench, ["new", try key(bench)] + Self.options)
            #expect(added.code == 65 && added.log.contains("new.yaml exists"), "\(added)")
            #expect(try file(bench) == "mine\n")
        }
    }

    @Test(arguments: [
        (["a/b"], "is not a valid app name", "up to 200 bytes"),
        (
            ["new", "--environment", "sandbx"], "--environment: must be `sandbox` or `production`",
            "did you mean `sandbox`?"
        ),
        (["new", "--topic", "com..weather"], "--topic: ", "bundle identifier"),
        (["new", "--protocol", "htp2"], "--protocol: ", "`http2`"),
        (["new", "--team", "short"], "--team: `short` is not a valid identifier", "10 characters"),
        (["new", "--project", "a-1"], "--project: is for protocol: fcm only", "remove it"),
    ])
    func `wrong input is named with its option, and nothing is written`(words: [String], message: String, hint: String)
        async throws
    {
        try await Modern().running { bench in
            let added = try await add(bench, [words[0], try key(bench)] + Self.options + words.dropFirst())
            #expect(added.code == 65 && added.log.contains(message) && added.log.contains(hint), "\(added)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(bench.path)/etc/apps").isEmpty)
        }
    }

    @Test func `a key that others can read, that is not there, or that is none is refused with the remedy`()
        async throws
    {
        try await Modern().running { bench in
            let open = try key(bench, mode: 0o644)
            let exposed = try await add(bench, ["new", open] + Self.options)
            #expect(
                exposed.code == 65 && exposed.log.contains("can be read by group or others\nhint: chmod 6"),
                "\(exposed)")
            let absent = try await add(bench, ["new", "\(bench.path)/none.p8"] + Self.options)
            #expect(absent.code == 65 && absent.log.contains("none.p8"), "\(absent)")
            try bench.write("etc/none.txt", "hello\n")
            let path = "\(bench.path)/etc/none.txt"
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            let none = try await add(bench, ["new", path] + Self.options)
            #expect(none.code == 65 && none.log.contains("is neither a key nor a certificate"), "\(none)")
            let team = try await add(bench, ["new", "\(bench.path)/certificates/client.pem", "--team", "DEF123GHIJ"])
            #expect(team.code == 65 && team.log.contains("--team: only a key"), "\(team)")
        }
    }
}
