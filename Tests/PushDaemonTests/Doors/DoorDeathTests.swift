import Foundation
import GatewaySimulator
import Glibc
import LinuxIO
import TestSupport
import Testing

/// Deaths of the door and of the daemon behind it, under four producers that send everything again that was not answered.
///
/// The producers are the apps of another daemon, whose gateway is the door.
@Suite(.serialized) struct DoorDeathTests {
    /// The producers' daemon.
    private struct Producers {
        let bench: Bench
        let names = ["fleet"] + Doorway.others.map(\.name)

        init(_ bench: Bench, port: String) throws {
            self.bench = bench
            for folder in ["far/apps", "far/run", "far/spool"] {
                try FileManager.default.createDirectory(
                    atPath: "\(bench.path)/\(folder)", withIntermediateDirectories: true)
            }
            try bench.write(
                "far/pushspool.yaml", "spool: spool\nstate: state\nnode: far\ncontrol: {folder: run}\napps: apps\n")
            for (index, name) in names.enumerated() {
                try bench.write(
                    "far/apps/\(name).yaml",
                    """
                    protocol: http2
                    environment: sandbox
                    topic: com.example.weather
                    credentials: {token: {key: ../../door/fleet.p8, key_id: DOORKEY00\(index + 1), team_id: FLEETTEAM1}}
                    trust: ../../door/ca.pem
                    gateway: localhost:\(port)
                    retry: {server_error: 1s, ceiling: 1s}

                    """)
            }
        }

        /// Runs the daemon while `body` runs.
        func running(_ body: (Program) async throws -> Void) async throws {
            let daemon = try bench.start(["run", "--config", "\(bench.path)/far/pushspool.yaml"])
            try await bench.watching(daemon) { daemon in
                try await daemon.says("app started", times: names.count)
                try await body(daemon)
            }
        }

        /// Drops a job of this many tokens for each producer, the first with this number.
        func drop(_ count: Int, from number: Int) throws {
            for (index, name) in names.enumerated() {
                let first = number + index * count
                let lines = (first..<first + count).map { "\"\(token($0))\"\n" }.joined()
                let folder = try Directory.open(path: "\(bench.path)/far/spool/\(name)")
                let staged = Array("j\(number).jsonl".utf8)
                let tmp = try folder.openChild(Array("tmp".utf8))
                try tmp.put(staged, Array("{\"defaults\":{\"alert\":\"x\"}}\n\(lines)".utf8))
                try tmp.rename(staged, to: try folder.openChild(Array("new".utf8)), replacing: staged)
            }
        }

        /// How many jobs have ended.
        var endedCount: Int {
            names.map { name in
                let done = "\(bench.path)/far/spool/\(name)/done"
                let days = (try? FileManager.default.contentsOfDirectory(atPath: done)) ?? []
                return days.map { day in
                    let files = (try? FileManager.default.contentsOfDirectory(atPath: "\(done)/\(day)")) ?? []
                    return files.count { $0.hasSuffix(".jsonl") }
                }.reduce(0, +)
            }.reduce(0, +)
        }
    }

    /// How many recipients each producer drops in each round.
    private static let count = 400

    /// Lets producers drop jobs while the door is killed again and again, and the daemon in every second round if it dies
    /// too. Nothing may be lost, and at most `allowance` notifications may be doubled.
    private func killing(rounds: Int, daemonToo: Bool, allowance: Int) async throws {
        try await Modern().running { bench in
            try bench.configureModern()
            let way = try Doorway(bench)
            var port = ""
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try await way.open { door in port = try door.port(of: "relay") }
                #expect(try await daemon.stop() == 0)
            }
            var settled = way
            settled.port = port
            try settled.configure()
            let producers = try Producers(bench, port: port)
            try await producers.running { _ in
                try await kill(rounds, daemonToo, way, producers)
                try await bench.withDaemon { daemon in
                    try await finish(rounds * producers.names.count, way, producers)
                    #expect(try await daemon.stop() == 0)
                }
            }
            var counts: [String: Int] = [:]
            for entry in await bench.simulator.ledger.accepted { counts[entry.tokenText, default: 0] += 1 }
            #expect(counts.count == rounds * Self.count * producers.names.count)
            let doubled = counts.values.reduce(0) { $0 + $1 - 1 }
            print(
                "doors: \(rounds) deaths of the door, \(daemonToo ? rounds / 2 : 0) of the daemon, \(counts.count) "
                    + "notifications, lost 0, doubled \(doubled); seed \(seed)")
            #expect(doubled <= allowance)
        }
    }

    private func kill(_ rounds: Int, _ daemonToo: Bool, _ way: Doorway, _ producers: Producers) async throws {
        var generator = SeededGenerator(seed: seed)
        var round = 0
        while round < rounds {
            // The daemon lives for two rounds, or for all of them.
            let last = daemonToo ? min(round + 2, rounds) : rounds
            try await way.bench.withDaemon { daemon in
                while round < last {
                    try await way.open { door in
                        try producers.drop(Self.count, from: round * Self.count * producers.names.count)
                        try await moment(.milliseconds(.random(in: 20...600, using: &generator)))
                        if round == last - 1 { try await daemon.destroy() }
                        try await door.program.destroy()
                    }
                    round += 1
                }
            }
        }
    }

    /// Waits until all jobs of the producers have ended, and all those that they became.
    private func finish(_ count: Int, _ way: Doorway, _ producers: Producers) async throws {
        try await way.open { _ in
            try await eventually("all \(count) jobs", within: isFullRun ? .seconds(900) : patience) {
                producers.endedCount == count
            }
            let bench = way.bench
            try await eventually("an empty spool", within: isFullRun ? .seconds(600) : patience) {
                _ = try bench.giveBackHeld(app: "modern")
                return bench.names(in: "modern/new").isEmpty && bench.names(in: "modern/work/node-a").isEmpty
            }
        }
    }

    /// One group of the door.
    private static let group = 256

    @Test func `a door that is killed loses nothing, and doubles at most one group a death`() async throws {
        let rounds = isFullRun ? 100 : 5
        try await killing(rounds: rounds, daemonToo: false, allowance: rounds * Self.group)
    }

    @Test func `deaths of the door and of the daemon behind it lose nothing`() async throws {
        let rounds = isFullRun ? 200 : 6
        // Of the daemon: the requests on its connection, and a group of outcomes.
        let allowance = rounds * Self.group + rounds / 2 * (1000 + 256)
        try await killing(rounds: rounds, daemonToo: true, allowance: allowance)
    }
}
