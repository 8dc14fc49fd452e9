import APNSModel
import Document
import Foundation
import GatewaySimulator
import Gateways
import LinuxIO
import PushDaemon
import PushModel
import TestSupport
import Testing

@testable import Configuration

struct ConfigurationTests {
    /// An app's sample, and what it says that is no default.
    enum Sample: String, CaseIterable {
        case weather, legacy, android = "weather-android"

        var required: String {
            switch self {
            case .weather:
                """
                protocol: http2
                environment: sandbox
                topic: com.example.weather
                credentials: {token: {key: AuthKey_ABC123DEFG.p8, key_id: ABC123DEFG, team_id: DEF123GHIJ}}

                """
            case .legacy:
                """
                protocol: binary
                environment: sandbox
                topic: com.example.legacy
                credentials: {certificate: legacy.pem}

                """
            case .android:
                """
                protocol: fcm
                credentials: {service_account: weather-adminsdk.json}

                """
            }
        }
    }

    @Test func `the sample configuration is accepted without a word`() throws {
        let folder = try TemporaryDirectory()
        try folder.directory.put("pushspool.yaml", try Manual.text("etc/pushspool.yaml"))
        let apps = try folder.directory.makeChild(Array("apps".utf8), mode: 0o755)
        try Self.putCredentials(into: apps)
        for sample in Sample.allCases {
            try apps.put("\(sample.rawValue).yaml", try Manual.text("etc/apps/\(sample.rawValue).yaml.sample"))
        }
        let set = ConfigurationLoader(path: folder.path + "/pushspool.yaml").load()
        #expect(set.findings.isEmpty, "\(set.findings)")
        #expect(set.apps.keys.sorted() == ["legacy", "weather", "weather-android"])
    }

    @Test func `every app in README and guides is accepted without a word, with the files that it names`() throws {
        let apps = try (["README.md"] + Manual.guides).flatMap { try Manual.fences($0) }
            .filter { $0.words == "yaml app" }.map(\.text)
        #expect(apps.count == 5)
        for text in apps {
            let folder = try TemporaryDirectory()
            try folder.directory.put("pushspool.yaml", "apps: apps\n")
            let place = try folder.directory.makeChild(Array("apps".utf8), mode: 0o755)
            try Self.putCredentials(into: place)
            let client = try #require(try Certificates.throwaway(topic: "com.example.weather").client)
            try place.create(Array("weather.pem".utf8), mode: 0o600).write(client)
            // One block is a line for an app that is there.
            try place.put("weather.yaml", text.hasPrefix("hook:") ? Sample.weather.required + text : text)
            let set = ConfigurationLoader(path: folder.path + "/pushspool.yaml").load()
            #expect(set.findings.isEmpty && set.apps["weather"] != nil, "\(text)\n\(set.findings)")
        }
    }

    @Test(arguments: Sample.allCases)
    func `a sample app says what the defaults are`(sample: Sample) throws {
        let folder = try TemporaryDirectory()
        try Self.putCredentials(into: folder.directory)
        try folder.directory.put("pushspool.yaml", "apps: .\n")
        var apps: [AppConfiguration] = []
        for text in [try Manual.text("etc/apps/\(sample.rawValue).yaml.sample"), sample.required] {
            try folder.directory.unlink(Array("\(sample.rawValue).yaml".utf8))
            try folder.directory.put("\(sample.rawValue).yaml", text)
            let set = ConfigurationLoader(path: folder.path + "/pushspool.yaml").load()
            apps.append(try #require(set.apps[sample.rawValue]).configuration)
        }
        #expect(apps[0] == apps[1])
    }

    @Test func `channels are named, and broadcasts have Apple's host or the app's own gateway`() throws {
        let folder = try TemporaryDirectory()
        try Self.putCredentials(into: folder.directory)
        try folder.directory.put("pushspool.yaml", "apps: .\n")
        func load(_ more: String) throws -> ConfigurationSet {
            try folder.directory.unlink(Array("weather.yaml".utf8))
            try folder.directory.put("weather.yaml", Sample.weather.required + more)
            return ConfigurationLoader(path: folder.path + "/pushspool.yaml").load()
        }
        let channels = "channels: {match-7: YWI=, ticker: {id: YWJj, policy: none}}\n"
        let set = try load(channels)
        let app = try #require(set.apps["weather"]?.configuration)
        #expect(app.channels.mapValues(\.id.text) == ["match-7": "YWI=", "ticker": "YWJj"])
        #expect(
            app.channels["ticker"]?.policy == .nothing && app.channels["match-7"]?.policy == nil)
        #expect(app.http2?.broadcasts.endpoint.description == "api-broadcast.sandbox.push.apple.com:443")
        let own = try load("gateway: localhost:8443\n").apps["weather"]
        #expect(own?.configuration.http2?.broadcasts.endpoint.description == "localhost:8443")
        let named = try load("gateway: localhost:8443\nbroadcast_gateway: localhost:8444\n").apps["weather"]
        #expect(named?.configuration.http2?.broadcasts.endpoint.description == "localhost:8444")
        let bad = try load("channels: {match-7: not base64, ticker: {policy: none}, .x: YWI=}\n")
        let lines = bad.findings.flatMap(\.diagnostics).map { "\($0.path ?? ""): \($0.message)" }
        #expect(lines.contains("channels.match-7: is not a channel's id"), "\(lines)")
        #expect(lines.contains("channels.ticker.id: is missing"), "\(lines)")
        #expect(lines.contains("channels..x: is not a valid name for a channel"), "\(lines)")
    }

    @Test func `the channel file adds names, the app's own file has priority, and faults name their file`() throws {
        let folder = try TemporaryDirectory()
        let apps = try folder.directory.makeChild(Array("apps".utf8), mode: 0o755)
        try Self.putCredentials(into: apps)
        try folder.directory.put("pushspool.yaml", "apps: apps\n")
        try apps.put("weather.yaml", Sample.weather.required + "channels: {goals: YWI=}\n")
        func load(_ file: [UInt8]) throws -> ConfigurationSet {
            try apps.unlink(Array("weather.channels.json".utf8))
            try apps.create(Array("weather.channels.json".utf8), mode: 0o644).write(file)
            return ConfigurationLoader(path: folder.path + "/pushspool.yaml").load()
        }
        let (one, two) = (try #require(ChannelID("YWJj" as Substring)), try #require(ChannelID("YQ==" as Substring)))
        let channels = [
            "goals": BroadcastChannel(id: one, policy: .latest), "news": BroadcastChannel(id: one, policy: .nothing),
            "old": BroadcastChannel(id: two),
        ]
        let set = try load(ChannelFile.content(channels))
        let warnings = set.findings.flatMap(\.diagnostics).map { "\($0.severity) \($0.path ?? ""): \($0.message)" }
        #expect(warnings == ["warning goals: has no effect: weather.yaml has another channel of this name"])
        let app = try #require(set.apps["weather"]?.configuration)
        #expect(app.channels.mapValues(\.id.text) == ["goals": "YWI=", "news": "YWJj", "old": "YQ=="])
        #expect(app.channels["news"]?.policy == .nothing && app.channels["old"]?.policy == nil)
        let none = try load(ChannelFile.content([:]))
        #expect(none.findings.isEmpty && none.apps["weather"] != nil)
        let bad = try load(Array("{\"news\": {\"id\": \"a b\"}}\n".utf8))
        let lines = bad.findings.flatMap { finding in finding.diagnostics.map { $0.rendered(file: finding.file) } }
        #expect(bad.brokenApps == ["weather"])
        #expect(
            lines.contains { $0.contains("weather.channels.json:1:17: error: news.id: is not a channel's id") },
            "\(lines)")
        #expect(lines.contains { $0.contains("weather.yaml") && $0.contains("channel file") }, "\(lines)")
    }

    @Test(arguments: [("sandbox", 2195, "sandbox."), ("production", 2196, "")])
    func `channels are managed at Apple's host and port, or at the app's own gateway`(
        environment: String, port: Int, infix: String
    ) throws {
        let folder = try TemporaryDirectory()
        try Self.putCredentials(into: folder.directory)
        try folder.directory.put("pushspool.yaml", "apps: .\n")
        func endpoint(_ more: String) throws -> String? {
            try folder.directory.unlink(Array("weather.yaml".utf8))
            let required = Sample.weather.required.replacingOccurrences(of: "sandbox", with: environment)
            try folder.directory.put("weather.yaml", required + more)
            let set = ConfigurationLoader(path: folder.path + "/pushspool.yaml").load()
            return set.apps["weather"]?.configuration.http2?.broadcasts.channelEndpoint.description
        }
        #expect(try endpoint("") == "api-manage-broadcast.\(infix)push.apple.com:\(port)")
        #expect(try endpoint("gateway: localhost:8443\n") == "localhost:8443")
        #expect(try endpoint("gateway: localhost:8443\nchannel_gateway: localhost\n") == "localhost:\(port)")
    }

    /// Puts what the samples name: a certificate with its key, a key alone, and a service account's file.
    static func putCredentials(into folder: Directory) throws {
        let client = try #require(try Certificates.throwaway(topic: "com.example.legacy").client)
        try folder.create(Array("legacy.pem".utf8), mode: 0o600).write(client)
        let key = try #require(client.firstRange(of: Array("-----BEGIN PRIVATE KEY".utf8)))
        try folder.create(Array("AuthKey_ABC123DEFG.p8".utf8), mode: 0o600).write(Array(client[key.lowerBound...]))
        try folder.create(Array("weather-adminsdk.json".utf8), mode: 0o600).write(ThrowawayServiceAccount().file)
    }
}
