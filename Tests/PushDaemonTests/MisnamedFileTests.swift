import Document
import Foundation
import LinuxIO
import PushDaemon
import TestSupport
import Testing

@testable import Configuration

/// Files in the apps' folder that are not read, and what is said of them.
@Suite struct MisnamedFileTests {
    private let place: TemporaryDirectory
    private let apps: Directory

    init() throws {
        place = try TemporaryDirectory()
        try place.directory.put("pushspool.yaml", "apps: apps\n")
        apps = try place.directory.makeChild(Array("apps".utf8), mode: 0o755)
    }

    private func load() -> ConfigurationSet { ConfigurationLoader(path: place.path + "/pushspool.yaml").load() }

    /// What is said of the files in the apps' folder, by file and line.
    private func lines(_ set: ConfigurationSet) -> [String] {
        set.findings.flatMap { finding in
            let name = FilePlace(finding.file).name
            return finding.diagnostics.map { $0.rendered(file: name) }
        }
    }

    @Test(arguments: [
        ("weather.yml", "rename it to weather.yaml"), ("weather.YAML", "rename it to weather.yaml"),
        ("my app.yml", "rename it to my app.yaml"),
        ("my\u{7F}app.yml", "rename it to <app>.yaml, with up to 200 bytes"),
    ])
    func `a file that is nearly an app's is named with the remedy, and is no fault`(name: String, hint: String) throws {
        try apps.put(name, "protocol: http2\n")
        let set = load()
        let found = lines(set)
        #expect(found.count == 1 && found[0].hasPrefix("\(name): warning: is ignored: "), "\(found)")
        #expect(found[0].contains("hint: \(hint)"), "\(found)")
        #expect(set.apps.isEmpty && set.brokenApps.isEmpty && !set.hasErrors)
    }

    @Test func `a file beside that of its app is not to be renamed over it`() throws {
        try apps.put("weather.yaml", "protocol: http3\n")
        try apps.put("weather.yml", "protocol: http2\n")
        let set = load()
        let found = lines(set).filter { $0.hasPrefix("weather.yml: ") }
        #expect(found.count == 1 && found[0].contains("hint: remove it: weather.yaml is read instead"), "\(found)")
        #expect(set.brokenApps == ["weather"] && set.misnamedFiles.isEmpty)
    }

    @Test func `a name that is no text is no app's name`() throws {
        try apps.put(Array("caf".utf8) + [0xE9] + Array(".yaml".utf8), Array("protocol: http2\n".utf8))
        let set = load()
        let found = lines(set)
        #expect(found.count == 1 && found[0].contains("error: the file name is not a valid app name"), "\(found)")
        #expect(set.hasErrors && set.apps.isEmpty)
    }

    @Test func `files that are nobody's are not told of`() throws {
        for name in [".weather.yml", ".weather.yaml.swp", "weather.yml~", "weather.yaml.sample", "yml"] {
            try apps.put(name)
        }
        let found = lines(load())
        #expect(found.isEmpty, "\(found)")
    }

    @Test func `that there is no app is said with what gives one`() throws {
        let none = try #require(load().lackOfApps)
        #expect(none.severity == .warning && none.message == "no app is configured")
        #expect(none.hint?.hasPrefix("write \(place.path)/apps/<app>.yaml; ") == true, "\(none)")
        try apps.put("weather.yml")
        let misnamed = try #require(load().lackOfApps)
        let remedy = "rename \(place.path)/apps/weather.yml to weather.yaml; "
        #expect(misnamed.hint?.hasPrefix(remedy) == true, "\(misnamed)")
        try apps.put("news.yaml", "protocol: http3\n")
        #expect(load().lackOfApps == nil)
    }

    @Test func `the daemon tells of a file that is not read, once`() async throws {
        try await Bench.running(try .init()) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.write("etc/apps/news.yml", "protocol: http2\n")
                try await daemon.says("rename it to news.yaml")
                try await daemon.says("configuration loaded")
                try bench.configureApp("weather", "rate: 100/s")
                try await daemon.says("app reconfigured")
                #expect(daemon.log.components(separatedBy: "rename it to news.yaml").count == 2)
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test func `jobs that are checked by themselves need no app`() async throws {
        try await Bench.running(try .init()) { bench in
            try bench.write("staged/good.json", job(1))
            let alone = try await bench.run(["check", "--jobs-only", bench.path + "/staged/good.json"])
            #expect(alone.code == 0 && !alone.log.contains("no app is configured"), "\(alone)")
        }
    }
}
