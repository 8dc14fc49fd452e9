import Foundation
import LinuxIO
import OpenSSL
import TestSupport
import Testing

@testable import Configuration
@testable import PushDaemon

/// What a daemon notices of its configuration by itself.
@Suite struct ConfigurationWatchTests {
    private let place: TemporaryDirectory
    private let apps: Directory
    private let keys: Directory

    init() throws {
        place = try TemporaryDirectory()
        apps = try place.directory.makeChild(Array("apps".utf8), mode: 0o755)
        keys = try place.directory.makeChild(Array("keys".utf8), mode: 0o755)
    }

    private func begin() throws -> ConfigurationWatch {
        try ConfigurationWatch(of: place.path + "/pushspool.yaml", appsIn: place.path + "/apps")
    }

    /// Takes what the watch tells until it has told of this name, and returns what was news.
    private func news(
        of watch: inout ConfigurationWatch, through last: String
    ) async throws -> [String: DirectoryWatch.Changes] {
        var news: [String: DirectoryWatch.Changes] = [:]
        while news[last] == nil {
            let notices = try #require(await watch.watch.next())
            for notice in notices {
                let isNews = watch.note([notice])
                guard isNews, case .event(let event) = notice else { continue }
                news[String(decoding: event.name, as: UTF8.self), default: []].formUnion(event.changes)
            }
        }
        return news
    }

    @Test(.timeLimit(.minutes(10)))
    func `what is read is news, whatever happens to it, and what else lies there is not`() async throws {
        var watch = try begin()
        defer { watch.stop() }
        let isFollowing = watch.follow([place.path + "/keys/push.pem", place.path + "/apps/key.p8"])
        #expect(isFollowing)
        for name in ["daemon.log", "pushspool.yaml", "pushspool.yaml~"] { try place.directory.put(name) }
        for name in [
            ".weather.yaml.swp", "weather.yaml", "notes.txt", "key.p8", "news.yml", "weather.channels.json",
            ".weather.channels.new",
        ] { try apps.put(name) }
        for name in ["other.pem", "push.pem"] { try keys.put(name) }
        try apps.unlink(Array("weather.yaml".utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: place.path + "/keys/push.pem")
        try apps.put("..data")
        let told = try await news(of: &watch, through: "..data")
        #expect(
            Set(told.keys) == [
                "pushspool.yaml", "weather.yaml", "weather.channels.json", "news.yml", "key.p8", "push.pem", "..data",
            ])
        #expect(told["weather.yaml"]?.contains(.removed) == true, "\(told)")
        #expect(told["push.pem"]?.contains(.attributes) == true, "\(told)")
    }

    @Test func `each key makes another configuration, also one that is applied without a restart`() throws {
        let path = place.path + "/pushspool.yaml"
        func load(_ text: String) throws -> ConfigurationSet {
            try text.write(toFile: path, atomically: false, encoding: .utf8)
            return ConfigurationLoader(path: path).load()
        }
        let plain = try load("spool: ../spool\n")
        #expect(plain.isSame(as: try load("spool: ../spool\n")))
        for text in [
            "spool: other\n", "spool: ../spool\nlog: {level: debug}\n", "spool: ../spool\nintake: {rescan: 7s}\n",
        ] {
            #expect(!plain.isSame(as: try load(text)), "\(text)")
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a folder that was away is watched again when it is back`() async throws {
        var watch = try begin()
        defer { watch.stop() }
        try place.directory.rename(Array("apps".utf8), to: place.directory, as: Array("gone".utf8))
        // The end of a folder has no name.
        let told = try await news(of: &watch, through: "")
        #expect(Array(told.keys) == [""])
        let isBack = watch.followAgain()
        #expect(!isBack)
        let again = try place.directory.makeChild(Array("apps".utf8), mode: 0o755)
        let isBackNow = watch.followAgain()
        #expect(isBackNow)
        try again.put("weather.yaml")
        let more = try await news(of: &watch, through: "weather.yaml")
        #expect(more["weather.yaml"]?.contains(.created) == true, "\(more)")
    }

    @Test func `an app that has not changed keeps its identity, and one whose files have gets another`() throws {
        let authority = try CertificateAuthority()
        let identities = try (0..<2).map { _ in try authority.issue(.push(topic: "com.example.weather")) }
        try place.directory.put("pushspool.yaml", "apps: apps\n")
        for name in ["news", "weather"] {
            try keep("\(name).pem", identities[0])
            try apps.put(
                "\(name).yaml", "protocol: http2\nenvironment: sandbox\ncredentials: {certificate: \(name).pem}\n")
        }
        let loader = ConfigurationLoader(path: place.path + "/pushspool.yaml")
        let first = loader.load()
        let second = loader.load(appsIn: first.daemon.apps, knowing: first.apps)
        #expect(second.isSame(as: first) && first.apps.count == 2)
        #expect(second.apps.allSatisfy { $1.context === first.apps[$0]?.context })
        try apps.unlink(Array("news.pem".utf8))
        try keep("news.pem", identities[1])
        let third = loader.load(appsIn: first.daemon.apps, knowing: second.apps)
        #expect(!third.isSame(as: first) && third.brokenApps.isEmpty)
        #expect(third.apps["weather"]?.context === first.apps["weather"]?.context)
        #expect(third.apps["news"]?.context !== first.apps["news"]?.context)
        #expect(third.apps["news"]?.fingerprint != first.apps["news"]?.fingerprint)
    }

    private func keep(_ name: String, _ identity: IssuedIdentity) throws {
        try apps.create(Array(name.utf8), mode: 0o600).write(identity.certificatePEM() + identity.keyPEM())
    }

    @Test func `a chmod is enough where one was asked for, and so is the removal of an app's file`() async throws {
        try await Bench.running(try .init()) { bench in
            let key = bench.path + "/certificates/client.pem"
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
            try await bench.withDaemon { daemon in
                try await daemon.says("chmod 600 \(key)")
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
                try await daemon.says("app started")
                try bench.drop("a.json", job(1))
                #expect(try await bench.end(of: "a.json").accepted == 1)
                try FileManager.default.removeItem(atPath: bench.path + "/etc/apps/weather.yaml")
                try await daemon.says("app removed from the configuration")
                #expect(try await daemon.stop() == 0)
            }
        }
    }
}
