import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// Connections over HTTP/2 in a whole daemon: several, lost ones, those through a proxy, and what all of them share.
@Suite struct HTTP2ConnectionTests {
    /// A gateway that takes few requests at a time, so that all connections are of use.
    private static func narrow(_ streamLimit: Int) -> HTTP2Manner {
        var manner = HTTP2Manner()
        (manner.streamLimit, manner.latency) = (streamLimit, .milliseconds(20))
        return manner
    }

    @Test func `a job goes through a proxy that wants a login`() async throws {
        try await Modern().running { bench in
            // What `me:secret` is as base64.
            try await ConnectProxy.running(authorization: "Basic bWU6c2VjcmV0\r\n") { proxy in
                let port = await proxy.port
                try bench.configureModern("proxy: http://me:secret@127.0.0.1:1")
                try await bench.withDaemon { daemon in
                    try await daemon.says("app started")
                    try bench.drop("one.json", job(1), app: "modern")
                    try await daemon.says("check host and port of the proxy me@127.0.0.1:1, and the network")
                    try bench.configureModern("proxy: http://127.0.0.1:\(port)")
                    daemon.send(SIGHUP)
                    try await daemon.says("proxy 127.0.0.1:\(port) requires a login (407 No)")
                    try bench.configureModern("proxy: http://me:secret@127.0.0.1:\(port)")
                    daemon.send(SIGHUP)
                    #expect(try await bench.end(of: "one.json", app: "modern").accepted == 1)
                    #expect(await bench.simulator.ledger.connectionCount == 1)
                    let way = "CONNECT localhost:\(bench.simulator.ports.http2) HTTP/1.1"
                    #expect(Set(await proxy.questions) == [way])
                    #expect(!daemon.log.contains("secret"))
                }
            }
        }
    }

    @Test(arguments: [("", 1000), ("window: 70", 70)])
    func `no more than the window is in flight, whatever the gateway allows`(line: String, window: Int) async throws {
        var manner = HTTP2Manner()
        (manner.streamLimit, manner.streamLimitBeforeToken) = (5000, nil)
        // It answers the first, which shows that it takes the provider token.
        try await Modern("after=2 withhold", manner: manner).running { bench in
            try bench.configureModern(line)
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("many.json", job(tokens: 0..<3000), app: "modern")
                try await eventually("a full window") { await bench.simulator.ledger.acceptedCount > window }
                // Long enough for thousands more.
                #expect(try await bench.operate("list").code == 0)
                let count = await bench.simulator.ledger.acceptedCount
                #expect((1 + window...2 + window).contains(count), "\(count)")
            }
        }
    }

    @Test func `connections are replaced for their age, and nobody gets anything twice`() async throws {
        try await Modern(manner: Self.narrow(10)).running { bench in
            try bench.configureModern("max_age: 1s\nrate: 100/s")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("many.json", job(tokens: 0..<300), app: "modern")
                #expect(try await bench.end(of: "many.json", app: "modern").accepted == 300)
                try await daemon.says("the connection has reached max_age", times: 2)
                #expect(try await daemon.stop() == 0)
                #expect(!daemon.log.contains("warning connection ended"), "\(daemon.log.suffix(2000))")
            }
            let ledger = await bench.simulator.ledger
            #expect(ledger.acceptedTokens.count == 300 && ledger.connectionCount > 2, "\(ledger.connectionCount)")
        }
    }

    @Test func `one of three connections that is cut loses nothing and doubles what it says`() async throws {
        // Five requests are taken and not answered: all that may be in flight.
        let modern = try Modern(
            """
            connection=2 after=40 times=5 withhold
            connection=2 after=45 reset
            """, manner: Self.narrow(5))
        try await modern.serving("connections: 3") { bench, daemon in
            try bench.drop("many.json", job(tokens: 0..<1000), app: "modern")
            let line = try await bench.end(of: "many.json", app: "modern")
            #expect(line.accepted == 1000 && line.state == "done")
            let ledger = await bench.simulator.ledger
            #expect(Set(ledger.accepted.map(\.token)).count == 1000)
            #expect(ledger.duplicateIDs.count == 5 && ledger.acceptedCount == 1005)
            #expect(ledger.connectionCount == 4)
            let ends = daemon.log.split(separator: "\n").filter { $0.contains("connection ended") }
            #expect(ends.count == 1 && ends.first?.contains("possible_duplicates=5") == true, "\(ends)")
        }
    }

    @Test func `one token serves two apps with three connections each, and the next start five minutes later`()
        async throws
    {
        let modern = try Modern(manner: Self.narrow(2))
        try await modern.running { bench in
            let sabotage = try await Sabotage(on: bench)
            for app in ["modern", "second"] { try bench.configureModern("connections: 3", as: app) }
            try await send("early.json", on: bench, sabotage)
            let stored = try bench.storedTokens()
            try sabotage.begin(.clock, "300")
            try await send("late.json", on: bench, sabotage)
            let ledger = await bench.simulator.ledger
            #expect(Set(ledger.accepted.compactMap { $0.request?["authorization"] }).count == 1)
            #expect(ledger.connectionCount == 12)
            #expect(try stored.count == 1 && bench.storedTokens() == stored)
            // The second daemon's clock was ahead indeed.
            let last = try #require(try bench.lines("job", app: "modern").compactMap(\.finished_at).max())
            #expect(last > Date(timeIntervalSinceNow: 200).ISO8601Format(), "\(last)")
        }
    }

    /// Starts a daemon, sends a job of each app, and stops it.
    private func send(_ name: String, on bench: Bench, _ sabotage: Sabotage) async throws {
        try await bench.withDaemon(sabotage) { daemon in
            try await daemon.says("app started", times: 2)
            for app in ["modern", "second"] { try bench.drop(name, job(tokens: 0..<200), app: app) }
            for app in ["modern", "second"] {
                #expect(try await bench.end(of: name, app: app).accepted == 200)
            }
            #expect(try await daemon.stop() == 0)
        }
    }
}

extension Bench {
    /// What is kept of provider tokens for the next start.
    fileprivate func storedTokens() throws -> [Data] {
        let folder = path + "/state/tokens"
        return try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".jwt") }
            .map { try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)")) }
    }
}
