import Foundation
import TestSupport
import Testing

/// What a daemon and doors answer to probes.
@Suite struct ProbeTests {
    /// Asks for a page over a Unix domain socket, and returns its status and content.
    private static func ask(_ path: String, at socket: String, _ bench: Bench) async throws -> (
        code: String, text: String
    ) {
        let words = ["curl", "--silent", "--show-error", "--max-time", "60", "--write-out", "%{http_code}"]
        let curl = try Program(
            "/usr/bin/env", words + ["--unix-socket", socket, "http://localhost\(path)"], logs: bench.path + "/logs")
        let code = try await curl.end()
        try #require(code == 0, "\(curl.log)")
        return (String(curl.text.suffix(3)), String(curl.text.dropLast(3)))
    }

    @Test func `a daemon is ready when all configured apps are open`() async throws {
        try await Bench.running(try .init()) { bench in
            let socket = bench.path + "/metrics.sock"
            let text = try String(contentsOfFile: bench.path + "/etc/pushspool.yaml", encoding: .utf8)
            try bench.write("etc/pushspool.yaml", text + "metrics: {listen: \"unix:\(socket)\"}\n")
            try await bench.withDaemon { daemon in
                try await daemon.says("listening for metrics requests")
                let live = try await Self.ask("/livez", at: socket, bench)
                #expect(live == ("200", "alive\n"))
                try await eventually("it is ready") { try await Self.ask("/readyz", at: socket, bench).code == "200" }
                try bench.write("etc/apps/broken.yaml", "protocol: none\n")
                let told = try await awaited("it is not ready") {
                    let told = try await Self.ask("/readyz", at: socket, bench)
                    return told.code == "503" ? told : nil
                }
                #expect(told.text.contains("not ready\n") && told.text.contains("apps: broken is broken"), "\(told)")
                #expect(try await Self.ask("/livez", at: socket, bench).code == "200")
            }
        }
    }

    @Test func `doors are ready without a daemon, which their probe says, and not without room for a job`()
        async throws
    {
        try await Modern().running { bench in
            try bench.configureModern()
            let way = try Doorway(bench)
            let socket = bench.path + "/door.sock"
            try way.configure("http: {listen: \"127.0.0.1:0\"}\nmetrics: {listen: \"unix:\(socket)\"}")
            // The doors make it.
            try FileManager.default.removeItem(atPath: bench.path + "/doorstate")
            try await way.open { door in
                try await door.program.says("listening for metrics requests")
                #expect(try await door.call("GET", "/livez").status == "200")
                let early = try await door.call("GET", "/readyz")
                #expect(
                    early.status == "503" && early.body.contains("apps: unknown; start the daemon once"), "\(early)")
                #expect(early.body.contains("state: ok\n"), "\(early)")
                try await bench.withDaemon { daemon in
                    try await daemon.says("app started")
                    try await eventually("it is ready") {
                        let answer = try await door.call("GET", "/readyz")
                        return answer.status == "200" && answer.body.contains("daemon: ok")
                    }
                    #expect(try await daemon.stop() == 0)
                }
                let alone = try await awaited("the daemon's end") {
                    let answer = try await door.call("GET", "/healthz")
                    return answer.body.contains("daemon: not running; jobs wait in the spool") ? answer : nil
                }
                #expect(alone.status == "200" && alone.body.hasPrefix("ready\n"), "\(alone)")
                try FileManager.default.moveItem(
                    atPath: bench.path + "/spool/modern/new", toPath: bench.path + "/spool/modern/gone")
                for path in ["/readyz", "/healthz"] {
                    try await eventually("there is no room") { try await door.call("GET", path).status == "503" }
                }
                let told = try await Self.ask("/readyz", at: socket, bench)
                #expect(told.code == "503" && told.text.contains("apps: none takes a job"), "\(told)")
                #expect(try await Self.ask("/livez", at: socket, bench).code == "200")
            }
        }
    }
}
