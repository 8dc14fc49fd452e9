import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// Jobs whose gateway is down, and whose room in the journal another app wants.
@Suite struct GivenBackTests {
    /// One request at a time, which is not answered.
    private static var silent: HTTP2Manner {
        var manner = HTTP2Manner()
        (manner.streamLimit, manner.latency) = (1, .seconds(3600))
        return manner
    }

    @Test(arguments: ["http2", "binary"])
    func `a job of which something was written stays, and others go back to new`(wire: String) async throws {
        // The other app wants room for longer than it takes until a gateway counts as down.
        var setup = try Bench.Setup(app: "binary: {confirm_after: 8s}")
        setup.gateway.http2Manner = Self.silent
        try await Bench.running(setup) { bench in
            try bench.shrinkJournal()
            try bench.configureSlow(wire, port: bench.port(wire))
            try await bench.withDaemon { daemon in
                try await daemon.says("app started", times: 2)
                // More than the app's share of the journal.
                let count = 12
                try bench.drop("plug.json", job(0), app: "slow")
                try await bench.arrived(1)
                for number in 1...count { try bench.drop("n\(number).json", padded(number, 30_000), app: "slow") }
                try await eventually("claimed") { bench.claimed.count == count + 1 }
                // The youngest of all is the next to be written.
                try bench.drop("urgent-last.json", job(count + 1), app: "slow")
                let written = try await awaited("claimed") { bench.claimed.first { $0.contains("urgent-last") } }
                try await bench.dropConnections(until: count + 1)
                try bench.configureSlow(wire, port: 1)
                daemon.send(SIGHUP)
                try await daemon.says("app reconfigured")
                await bench.simulator.dropConnections(resetting: true)

                for number in 100..<112 { try bench.drop("n\(number).json", padded(number, 60_000)) }
                try await daemon.says("moved back to new/")
                try await eventually("the other app's jobs") { bench.jobs(in: "done").count == 12 }
                #expect(bench.claimed.count < count)
                #expect(bench.claimed.contains(written), "\(bench.claimed)")

                await bench.simulator.setHTTP2Manner(HTTP2Manner())
                try bench.configureSlow(wire, port: bench.port(wire), "")
                daemon.send(SIGHUP)
                try await eventually("the rest") { bench.jobs(in: "done", app: "slow").count == count + 2 }
                #expect(await bench.ids(of: count + 1).count == (wire == "http2" ? 1 : 0))
                #expect(try await daemon.stop() == 0, "\(daemon.log.suffix(2000))")
            }
        }
    }
}

extension Bench {
    /// The names of what the app called slow has claimed.
    fileprivate var claimed: [String] { names(in: "slow/work/node-a") }

    fileprivate func port(_ wire: String) -> Int { wire == "http2" ? simulator.ports.http2 : simulator.ports.gateway }

    fileprivate func shrinkJournal() throws {
        let file = try String(contentsOfFile: path + "/etc/pushspool.yaml", encoding: .utf8)
        try write("etc/pushspool.yaml", file + "journal: {size: 8MiB}\nlimits: {free_space: 1MiB}\n")
    }

    /// Writes the file of an app that has one notification in doubt at a time, for long.
    fileprivate func configureSlow(
        _ wire: String, port: Int, _ more: String = "timeouts: {answer: 1h}\nbinary: {window: 1, confirm_after: 1h}"
    ) throws {
        let lines = more.split(separator: "\n").filter { wire == "binary" || !$0.hasPrefix("binary:") }
        try write(
            "etc/apps/slow.yaml",
            """
            protocol: \(wire)
            environment: sandbox
            topic: com.example.weather
            credentials: {certificate: \(path)/certificates/client.pem}
            trust: \(path)/certificates/ca.pem
            gateway: localhost:\(port)
            \(lines.joined(separator: "\n"))

            """)
    }

    /// Waits until so many notifications have come to the gateway in all.
    fileprivate func arrived(_ count: Int) async throws {
        try await eventually("\(count) arrived") { await simulator.ledger.arrivedCount == count }
    }

    /// Ends connections, of which each has brought one notification, until that of a job has come: it may not have been handed
    /// out before the first one ends.
    fileprivate func dropConnections(until number: Int) async throws {
        var count = await simulator.ledger.arrivedCount
        while await !simulator.ledger.entries.contains(where: { $0.tokenText == token(number) }) {
            await simulator.dropConnections(resetting: true)
            count += 1
            try await arrived(count)
        }
    }

    /// Under which ids the notification of a job was sent over HTTP/2.
    fileprivate func ids(of number: Int) async -> Set<String> {
        let entries = await simulator.ledger.entries.filter { $0.tokenText == token(number) }
        return Set(entries.compactMap { $0.request.map { "\($0.id)" } })
    }
}

/// A job for the token with this number, with so many bytes more than it needs.
private func padded(_ number: Int, _ count: Int) -> String {
    job(number) + String(repeating: " ", count: count)
}
