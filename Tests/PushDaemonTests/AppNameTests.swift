import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// Apps whose names are identifiers of other people's, not words.
@Suite struct AppNameTests {
    private static let name = "sandbox:com.example.Ünï ☃ 100%"

    @Test func `an app is called as people like, all the way`() async throws {
        var setup = try Bench.Setup()
        setup.hasApp = false
        let app = Self.name
        try await Bench.running(setup) { bench in
            try bench.configureApp(app, "rate: 5/s\nhook: printf '%s' \"$PUSHSPOOL_APP\" > \(bench.path)/hooked")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("a.json", job(1), app: app)
                #expect(try await bench.end(of: "a.json", app: app).accepted == 1)
                try await eventually("the hook") {
                    (try? String(contentsOfFile: bench.path + "/hooked", encoding: .utf8)) == app
                }
                try await command(app, bench)
                try await eventually("the status") { try await bench.operate("status", app).text.contains(app) }
                try await eventually("the numbers") {
                    try bench.contents(".pushspool/public/node-a/metrics.prom").contains("app=\"\(app)\"")
                }
                for command in ["show", "feedback"] {
                    let end = try await bench.operate(command, "\(app)/a.json")
                    #expect(end.code == 0 && end.text.contains("a.json"), "\(command): \(end)")
                }
                #expect(try await bench.operate("doctor", app).text.contains("names \(app): is configured"))
                #expect(try await daemon.stop() == 0)
            }
            // What a journal and an archive of it tell is understood by the next daemon.
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("b.json", job(2), app: app)
                #expect(try await bench.end(of: "b.json", app: app).accepted == 1)
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    /// Has operators do something with a job of the app.
    private func command(_ app: String, _ bench: Bench) async throws {
        try bench.drop("long.json", job(tokens: 0..<200), app: app)
        _ = try await bench.accepted(3)
        let held = try await bench.operate("hold", "\(app)/long.json")
        #expect(held.code == 0 && held.text.contains("\(app)/long.json: held as hold/long.json"), "\(held)")
        #expect(try await bench.operate("list").text.contains("\(app)  held"))
        let released = try await bench.operate("release", "\(bench.path)/spool/\(app)/hold/long.json")
        #expect(released.code == 0, "\(released)")
        try await eventually("the end") {
            try await bench.operate("cancel", "--app", app, "long.json").code == 0
        }
        #expect(try await bench.end(of: "long.json", app: app).code == "cancelled")
        #expect(try await bench.operate("retry", "-n", "\(app)/long.json").code == 0)
    }

    @Test func `files that can be no app's, and those that look the same, are told with what to do`() async throws {
        try await Bench.running(try .init()) { bench in
            for name in ["a\u{202E}b", "caf\u{E9}", "cafe\u{301}"] { try bench.configureApp(name) }
            let end = try await bench.operate("check")
            #expect(end.code == 78 && end.log.contains("the file name is not a valid app name"), "\(end)")
            #expect(end.log.contains("up to 200 bytes of UTF-8 without '/'"), "\(end)")
            #expect(end.log.contains("another file name differs only in its Unicode form"), "\(end)")
        }
    }
}
