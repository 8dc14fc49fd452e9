import APNSHTTP2
import APNSModel
import Document
import Foundation
import GatewaySimulator
import Gateways
import LinuxIO
import OpenSSL
import PushDaemon
import TestSupport
import Testing

@testable import Configuration
@testable import PushModel

/// Apps whose identity is a provider token: what is made of their files, and what `check` says of them.
struct TokenIdentityTests {
    private let folder: AppsFolder

    init() throws { folder = try AppsFolder() }

    private func configuration(_ more: String = "", key: String = "AuthKey_ABC123DEFG.p8") -> [UInt8] {
        Array(
            """
            protocol: http2
            environment: production
            topic: com.example.weather
            credentials: {token: {key: \(key), key_id: ABC123DEFG, team_id: DEF123GHIJ}}
            \(more)

            """.utf8)
    }

    private func load(_ more: String = "", key: String = "AuthKey_ABC123DEFG.p8") throws -> ConfigurationSet {
        try folder.put("weather.yaml", configuration(more, key: key))
        return folder.loader.load()
    }

    @Test func `an app with a key needs no certificate`() throws {
        try folder.put("AuthKey_ABC123DEFG.p8", try ThrowawayTokenKey().p8)
        let set = try load("proxy: http://me:secret@proxy.example:3128\nretry: {later: 1m, ceiling: 2h}")
        let identity = try #require(set.apps["weather"])
        #expect(set.lines.isEmpty && identity.proof == .providerToken && identity.feedbackService == nil)
        #expect(identity.credentialsDescription == "provider token with key ABC123DEFG of team DEF123GHIJ")
    }

    @Test func `apps with the same key and trust share them, also one that is added later`() throws {
        try folder.put("AuthKey_ABC123DEFG.p8", try ThrowawayTokenKey().p8)
        try folder.put("other.p8", try ThrowawayTokenKey().p8)
        try folder.put("ca.pem", try CertificateAuthority().certificatePEM())
        for (name, key, more) in [
            ("same", "AuthKey_ABC123DEFG.p8", ""), ("other", "other.p8", ""),
            ("strict", "AuthKey_ABC123DEFG.p8", "trust: ca.pem"),
        ] { try folder.put("\(name).yaml", configuration(more, key: key)) }
        try folder.put("weather.yaml", configuration())
        let loader = folder.loader
        let first = loader.load()
        try folder.put("later.yaml", configuration())
        let apps = loader.load(appsIn: folder.apps.path, knowing: first.apps).apps
        #expect(first.lines.isEmpty && apps.count == 5)
        func key(_ name: String) -> ProviderKey? {
            if case .token(let key) = apps[name]?.credentials { key } else { nil }
        }
        let weather = try #require(apps["weather"])
        #expect(apps["same"]?.context === weather.context && apps["later"]?.context === weather.context)
        #expect(apps["other"]?.context === weather.context && apps["strict"]?.context !== weather.context)
        #expect(key("same") === key("weather") && key("strict") === key("weather") && key("later") === key("weather"))
        #expect(key("other") !== key("weather"))
    }

    @Test func `another key is another identity, the same one in another form is not`() throws {
        let (first, second) = (try ThrowawayTokenKey(), try ThrowawayTokenKey())
        #expect(first.signer.fingerprint != second.signer.fingerprint)
        #expect(try ES256Signer(p8: first.p8 + [0x0A]).fingerprint == first.signer.fingerprint)
    }

    /// What is wrong with a key file, and what has to be said of it.
    enum Fault: String, CaseIterable {
        case missing, readableByOthers, certificate, otherCurve, empty

        var words: [String] {
            switch self {
            case .missing: ["AuthKey_ABC123DEFG.p8", "ENOENT"]
            case .readableByOthers: ["can be read by group or others", "chmod 600"]
            case .certificate: ["certificate"]
            case .otherCurve: ["no block"]
            case .empty: ["empty"]
            }
        }
    }

    @Test(arguments: Fault.allCases)
    func `a key that cannot be used is named with the remedy, and its app waits`(fault: Fault) throws {
        let name = "AuthKey_ABC123DEFG.p8"
        switch fault {
        case .missing: break
        case .readableByOthers: try folder.put(name, try ThrowawayTokenKey().p8, mode: 0o644)
        case .certificate: try folder.put(name, try CertificateAuthority().certificatePEM())
        case .otherCurve: try folder.put(name, Array("not a key at all\n".utf8))
        case .empty: try folder.put(name, [])
        }
        let set = try load()
        #expect(set.brokenApps == ["weather"] && set.apps.isEmpty)
        let text = set.lines.joined(separator: "\n")
        #expect(text.contains("credentials.token.key: ") && text.contains("hint: "), "\(text)")
        for word in fault.words { #expect(text.contains(word), "\(text)") }
    }

    @Test(arguments: [("\"", "\\n", "\""), ("'", "\\n", "'"), ("'", " ", "'"), ("\"", "\\r", "\"")])
    func `the key may stand in the file itself, as people paste it`(start: String, lineEnd: String, end: String) throws
    {
        let key = String(decoding: try ThrowawayTokenKey().p8, as: UTF8.self)
        let set = try load(key: start + key.replacing("\n", with: lineEnd) + end)
        #expect(set.apps["weather"] != nil && set.lines.isEmpty, "\(set.lines)")
    }

    @Test func `an app's file with a key or a password is judged like a key file`() throws {
        let key = String(decoding: try ThrowawayTokenKey().p8, as: UTF8.self).replacing("\n", with: "\\n")
        try folder.put("AuthKey_ABC123DEFG.p8", try ThrowawayTokenKey().p8)
        try folder.put("key.yaml", configuration(key: "\"\(key)\""), mode: 0o644)
        try folder.put("proxy.yaml", configuration("proxy: http://me:secret@proxy.example:3128"), mode: 0o604)
        try folder.put("plain.yaml", configuration("proxy: http://proxy.example:3128"), mode: 0o644)
        let set = folder.loader.load()
        #expect(set.brokenApps == ["key", "proxy"] && Set(set.apps.keys) == ["plain"])
        let text = set.lines.joined(separator: "\n")
        for (name, path) in [("key", "credentials.token.key"), ("proxy", "proxy")] {
            let file = "\(folder.apps.path)/\(name).yaml"
            let words =
                "\(path): is in the file itself, and \(file) can be read by group or others\nhint: chmod 600 \(file)"
            #expect(text.contains(words), "\(text)")
        }
        #expect(!text.contains("secret") && !text.contains("BEGIN"))
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root can give files away"),
        arguments: [
            (500, 0o600, 500, true), (500, 0o400, 500, true), (500, 0o640, 500, false), (500, 0o604, 500, false),
            (0, 0o640, 500, true), (0, 0o440, 500, true), (0, 0o660, 500, false), (0, 0o644, 500, false),
            (501, 0o600, 500, false), (501, 0o600, 0, true), (501, 0o640, 0, false), (0, 0o600, 0, true),
        ])
    func `who may own and read a file with a secret`(owner: UInt32, mode: UInt32, user: UInt32, isSafe: Bool) throws {
        try folder.put("file", [])
        let file = folder.apps.path + "/file"
        try #require(unsafe chmod(file, mode) == 0 && chown(file, owner, .max) == 0)
        let status = try #require(try folder.apps.status(of: Array("file".utf8)))
        #expect((ConfigurationFile.exposure(of: status, at: file, to: user) == nil) == isSafe)
    }
}

/// `check` and `run` with apps of either protocol.
@Suite struct ProtocolTests {
    private static func http2(_ bench: Bench, key: String = "key.p8") -> String {
        """
        protocol: http2
        environment: sandbox
        topic: com.example.weather
        credentials: {token: {key: \(bench.path)/etc/\(key), key_id: ABC123DEFG, team_id: DEF123GHIJ}}
        trust: \(bench.path)/certificates/ca.pem
        gateway: localhost:\(bench.simulator.ports.gateway)

        """
    }

    private static func putKey(_ bench: Bench) throws {
        let file = bench.path + "/etc/key.p8"
        try Data(try ThrowawayTokenKey().p8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    }

    @Test func `check tells protocol, way, topic and key, and no password`() async throws {
        try await Bench.running(try .init()) { bench in
            try Self.putKey(bench)
            try bench.write(
                "etc/apps/modern.yaml", Self.http2(bench) + "proxy: http://me:secret@proxy.example:3128\n")
            let check = try await bench.run(["check", "--config", "\(bench.path)/etc/pushspool.yaml"])
            #expect(check.code == 0, "\(check)")
            let words = [
                "modern: sandbox at localhost:", " over http2 through the proxy me@proxy.example:3128",
                "topic com.example.weather", "provider token with key ABC123DEFG of team DEF123GHIJ",
                "weather: sandbox at localhost:", " over binary, topic com.example.weather",
            ]
            for word in words { #expect(check.text.contains(word), "\(word) in \(check.text)") }
            #expect(!(check.text + check.log).contains("secret"))
        }
    }

    @Test func `check reads jobs as the app's protocol does`() async throws {
        try await Bench.running(try .init()) { bench in
            try Self.putKey(bench)
            try bench.write("etc/apps/modern.yaml", Self.http2(bench))
            let text = String(repeating: "x", count: 3000)
            try bench.write("staged/long.json", #"{"token":"\#(token(1))","alert":"\#(text)"}"#)
            let check = ["check", "--config", "\(bench.path)/etc/pushspool.yaml", bench.path + "/staged/long.json"]
            #expect(try await bench.run(check + ["--app", "modern"]).code == 0)
            let binary = try await bench.run(check + ["--app", "weather"])
            #expect(binary.code == 65 && binary.log.contains("the limit is 2048"), "\(binary)")
        }
    }

    @Test func `tokens have a folder of their own in state, for nobody else`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            let attributes = try FileManager.default.attributesOfItem(atPath: bench.path + "/state/tokens")
            #expect(attributes[.posixPermissions] as? Int == 0o700)
        }
    }

    @Test func `an app that changes its protocol starts anew, when its jobs are over`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            let binary = try String(contentsOfFile: bench.path + "/etc/apps/weather.yaml", encoding: .utf8)
            try Self.putKey(bench)
            try bench.drop("before.json", job(1))
            _ = try await bench.accepted(1)
            try bench.write("etc/apps/weather.yaml", Self.http2(bench))
            daemon.send(SIGHUP)
            try await daemon.says("app restarts because its protocol changed")
            #expect(try await bench.end(of: "before.json").accepted == 1)
            try await daemon.says("app started", times: 2)
            // The gateway's port speaks the binary protocol: the other one cannot begin there.
            try bench.drop("waits.json", job(2))
            try await daemon.says("connection ended")
            try bench.write("etc/apps/weather.yaml", binary)
            daemon.send(SIGHUP)
            #expect(try await bench.end(of: "waits.json").accepted == 1)
            #expect(await bench.simulator.ledger.duplicates.isEmpty)
        }
    }
}
