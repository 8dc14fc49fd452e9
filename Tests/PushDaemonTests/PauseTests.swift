import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// Apps that operators pause and resume, and files that no app takes.
@Suite struct PauseTests {
    private func status(_ bench: Bench) async throws -> String { try await bench.operate("status").text }

    @Test func `a paused app takes nothing, also after a restart, until it is resumed`() async throws {
        try await Bench.running(try .init()) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                let end = try await bench.operate("pause", "weather")
                #expect(end.code == 0 && end.text.contains("weather: paused"), "\(end)")
                try bench.drop("a.json", job(1))
                try await eventually("the state") { try await status(bench).contains("weather  paused") }
                #expect(try await bench.operate("pause", "weather").text.contains("already paused"))
                #expect(try await daemon.stop() == 0)
            }
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try await eventually("the state") {
                    try await status(bench).contains("weather is paused by an operator; run `pushspool resume`")
                }
                #expect(bench.names(in: "weather/new") == ["a.json"])
                #expect(await bench.simulator.ledger.arrivedCount == 0)
                let doctor = try await bench.operate("doctor")
                #expect(doctor.text.contains("is paused: nothing is claimed or sent"), "\(doctor)")
                #expect(try await bench.operate("resume", "weather").text.contains("weather: resumed"))
                #expect(try await bench.end(of: "a.json").accepted == 1)
                #expect(!bench.names(in: "weather").contains("paused"))
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    enum Wire: CaseIterable { case binary, http2 }

    @Test(arguments: Wire.allCases)
    func `of a job under way nothing more is sent, a drain does not wait for it, and nobody gets it twice`(
        wire: Wire
    ) async throws {
        let modern = try Modern()
        try await modern.running { bench in
            let app = wire == .http2 ? "modern" : "weather"
            if wire == .http2 { try bench.configureModern("rate: 40/s") }
            if wire == .binary { try bench.configureApp("weather", "rate: 40/s") }
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("long.json", job(tokens: 0..<80), app: app)
                _ = try await bench.accepted(10)
                #expect(try await bench.operate("pause", app).code == 0)
                try await eventually("no connection") {
                    try bench.contents(".pushspool/public/node-a/metrics.prom")
                        .contains(#"pushspool_connections{node="node-a",app="\#(app)"} 0"#)
                }
                let count = await bench.simulator.ledger.acceptedTokens.count
                // As long as thirty more would take at the app's rate.
                try await moment(.milliseconds(750))
                #expect(await bench.simulator.ledger.acceptedTokens.count == count && count < 80)
                #expect(try await bench.operate("stop", "--drain", "--timeout", "50").code == 0)
                _ = try await daemon.end()
            }
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                #expect(try await bench.operate("resume").text.contains("all apps: resumed: \(app)"))
                #expect(try await bench.end(of: "long.json", app: app).accepted == 80)
                #expect(try await daemon.stop() == 0)
            }
            let tokens = await bench.simulator.ledger.acceptedTokens
            #expect(tokens.count == 80 && Set(tokens).count == 80)
        }
    }

    @Test func `without a daemon a pause waits for the next one`() async throws {
        try await Bench.running(try .init()) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                #expect(try await daemon.stop() == 0)
            }
            #expect(try await bench.operate("pause").text.contains("all apps: paused: weather"))
            #expect(bench.names(in: "weather").contains("paused"))
            try bench.drop("a.json", job(1))
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try await eventually("the state") { try await status(bench).contains("weather  paused") }
                #expect(bench.names(in: "weather/new") == ["a.json"])
                #expect(try await daemon.stop() == 0)
            }
            let end = try await bench.operate("resume", "weather", "nobody")
            #expect(end.code == 1 && end.text.contains("weather: resumed"), "\(end)")
            #expect(end.log.contains("nobody: no such app"), "\(end)")
        }
    }

    @Test func `a file called paused does it too`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            try bench.write("spool/weather/paused", "")
            try await daemon.says("app paused")
            try bench.drop("a.json", job(1))
            try await eventually("the state") { try await status(bench).contains("weather  paused") }
            try FileManager.default.removeItem(atPath: bench.path + "/spool/weather/paused")
            #expect(try await bench.end(of: "a.json").accepted == 1)
        }
    }

    @Test func `an app that its gateway has refused asks again when it is resumed`() async throws {
        try await Modern("times=1 answer reason=Forbidden").serving { bench, daemon in
            try bench.drop("a.json", job(1), app: "modern")
            try await daemon.says("app stopped")
            #expect(try await bench.operate("resume", "modern").text.contains("modern: trying its gateway again"))
            #expect(try await bench.end(of: "a.json", app: "modern").accepted == 1)
        }
    }

    @Test func `what is no job's name is told in log, status and numbers, and by the doctor`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            for name in ["UPPER.JSON", "noext", "x.json.gz", ".hidden", "copy.json~"] {
                try bench.write("spool/weather/new/\(name)", "{}")
            }
            try await daemon.says("rename it to UPPER.json: the extension must be lower case")
            try await daemon.says("unpack it, and give it a job's file name")
            try await eventually("the status") {
                try await status(bench).contains("weather: 3 files in new/ ignored; see pushspool doctor")
            }
            try await eventually("the numbers") {
                try bench.contents(".pushspool/public/node-a/metrics.prom")
                    .contains(#"pushspool_files_ignored{node="node-a",app="weather"} 3"#)
            }
            let doctor = try await bench.operate("doctor")
            #expect(doctor.text.contains("files ignored in new/ (3): `UPPER.JSON`, `noext`, `x.json.gz`"), "\(doctor)")
            try bench.drop("a.json", job(1))
            #expect(try await bench.end(of: "a.json").accepted == 1)
            #expect(bench.names(in: "weather/new").count == 5)
            #expect(daemon.log.components(separatedBy: "UPPER.JSON").count == 2, "told more than once")
        }
    }
}
