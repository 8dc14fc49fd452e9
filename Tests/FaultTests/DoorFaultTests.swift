import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// What a door promises: that what it has accepted survives a loss of power, and that it accepts nothing that a full disk loses.
@Suite(.serialized) struct DoorFaultTests {
    /// The notifications that a client's lines name after a word.
    private func numbers(_ word: String, _ lines: [Substring]) -> Set<Int> {
        Set(
            lines.compactMap { line in
                let parts = line.split(separator: " ")
                return parts.count == 2 && parts[0] == word ? Int(parts[1]) : nil
            })
    }

    /// Returns how often the gateway got each notification, once the daemon has sent all that is in the spool.
    private func sent(_ bench: Bench) async throws -> [Int: Int] {
        try await bench.finish()
        var counts: [Int: Int] = [:]
        for entry in await bench.simulator.ledger.accepted {
            let number = entry.token.suffix(8).reduce(0) { $0 << 8 | Int($1) }
            counts[number, default: 0] += 1
        }
        return counts
    }

    /// Which file operations of a door in the spool to lose power at: for each job it makes about 30.
    private static let operations = isFullRun ? Array(stride(from: 20, to: 200, by: 2)) : [63, 91, 118, 144]

    @Test(.needs(.ext4), arguments: operations)
    func `a power loss at any file operation loses nothing that was accepted`(operation: Int) async throws {
        try await Bench.running(.init(volume: .calm(.ext4))) { bench in
            let volume = try #require(bench.volume)
            let door = try DoorUnderTest(bench)
            try await door.announceApps()
            try await volume.settle()
            let point = Failpoint(number: operation, action: .stop).environment(bench)
            let lines = try await door.pushing(from: 1, point) { door, _ in
                try await eventually("the operation: \(door.log.suffix(2000))") { door.isStopped }
                try await volume.losePower()
            }
            try await volume.comeBack()
            let (accepted, counts) = (numbers("accepted", lines), try await sent(bench))
            report("doors cut-ext4 at \(operation): \(accepted.count) accepted, \(counts.count) sent; seed \(seed)")
            #expect(accepted.isSubset(of: counts.keys), "\(accepted.subtracting(counts.keys))")
            #expect(counts.values.allSatisfy { $0 == 1 }, "\(counts)")
            // Of one more, the answer had not left yet.
            #expect(counts.count <= accepted.count + 1)
        }
    }

    @Test(.needs(.ext4)) func `on a full disk nothing is accepted, and nothing that was is lost`() async throws {
        try await Bench.running(SpaceTests.setup(.ext4)) { bench in
            let volume = try #require(bench.volume)
            let door = try DoorUnderTest(bench)
            try await door.announceApps()
            let lines = try await door.pushing(from: 1) { door, client in
                try await eventually("some are accepted: \(client.log) \(door.log)") {
                    numbers("accepted", client.log.split(separator: "\n")).count >= 8
                }
                try await volume.fill()
                try await eventually("each door has refused one: \(client.log.suffix(500)) \(door.log.suffix(2000))") {
                    Set(numbers("refused", client.log.split(separator: "\n")).map { $0 % 4 }).count == 4
                }
                try await volume.empty()
                let before = numbers("accepted", client.log.split(separator: "\n")).count
                try await eventually("some more are accepted: \(client.log.suffix(500))") {
                    numbers("accepted", client.log.split(separator: "\n")).count >= before + 8
                }
                #expect(client.process.isRunning, "\(client.log.suffix(500))")
            }
            let (accepted, counts) = (numbers("accepted", lines), try await sent(bench))
            let refused = numbers("refused", lines)
            report(
                "doors enospc-ext4: \(accepted.count) accepted, \(refused.count) refused, \(counts.count) sent; seed \(seed)"
            )
            #expect(accepted.isSubset(of: counts.keys), "\(accepted.subtracting(counts.keys))")
            #expect(refused.isDisjoint(with: counts.keys), "\(refused.intersection(counts.keys))")
            #expect(counts.values.allSatisfy { $0 == 1 })
        }
    }

    @Test func `a daemon that comes back after an hour sends what the doors have taken`() async throws {
        try await Bench.running { bench in
            let door = try DoorUnderTest(bench)
            try await door.announceApps()
            let lines = try await door.pushing(from: 1) { _, client in
                try await eventually("some are accepted: \(client.log)") {
                    numbers("accepted", client.log.split(separator: "\n")).count >= 40
                }
            }
            // An hour passes: jobs are as old as their files.
            let new = bench.spool + "/weather/new"
            for name in try FileManager.default.contentsOfDirectory(atPath: new) {
                let date = Date(timeIntervalSinceNow: -3_600)
                try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: "\(new)/\(name)")
            }
            let (accepted, counts) = (numbers("accepted", lines), try await sent(bench))
            report("doors outage: \(accepted.count) accepted, \(counts.count) sent; seed \(seed)")
            // ZeroMQ's commands ask for an hour, which is over.
            #expect(accepted.filter { $0 % 4 != 2 }.allSatisfy { counts[$0] == 1 })
            #expect(accepted.filter { $0 % 4 == 2 }.allSatisfy { counts[$0, default: 0] <= 1 })
        }
    }

    /// What an operator moves away under the doors and the daemon.
    enum Moved: String, CaseIterable {
        case new = "weather/new"
        case app = "weather"
        case spool = ""

        /// Where `new/` is in it.
        var below: String {
            switch self {
            case .new: ""
            case .app: "/new"
            case .spool: "/weather/new"
            }
        }
    }

    @Test(arguments: Moved.allCases)
    func `doors whose folder is moved away accept nothing that is not sent`(moved: Moved) async throws {
        try await Bench.running { bench in
            let under = try DoorUnderTest(bench)
            try await under.announceApps()
            func acceptedCount(_ client: Child) -> Int { numbers("accepted", client.log.split(separator: "\n")).count }
            let lines = try await under.pushing(from: 1) { door, client in
                try await eventually("some are accepted: \(client.log)") { acceptedCount(client) >= 8 }
                let path = bench.spool + (moved.rawValue.isEmpty ? "" : "/" + moved.rawValue)
                try FileManager.default.moveItem(atPath: path, toPath: bench.home + "/elsewhere")
                try FileManager.default.createDirectory(atPath: bench.spool, withIntermediateDirectories: true)
                try await under.announceApps()
                let before = acceptedCount(client)
                try await eventually("each door accepts again: \(client.log.suffix(500)) \(door.log.suffix(2000))") {
                    acceptedCount(client) >= before + 8
                }
            }
            let accepted = numbers("accepted", lines)
            let old = bench.home + "/elsewhere" + moved.below
            let left = try FileManager.default.contentsOfDirectory(atPath: old).map {
                try String(contentsOfFile: "\(old)/\($0)", encoding: .utf8)
            }
            let counts = try await sent(bench)
            let taken = accepted.filter { number in left.contains { $0.contains(DoorUnderTest.token(number)) } }
            report("doors, \(old) moved: \(accepted.count) accepted, \(taken.count) moved, \(counts.count) sent")
            #expect(accepted.isSubset(of: taken.union(counts.keys)), "\(accepted.subtracting(counts.keys))")
            #expect(taken.isDisjoint(with: counts.keys) && counts.values.allSatisfy { $0 == 1 }, "\(counts)")
            #expect(accepted.count - taken.count >= 8)
        }
    }

    /// Then a rename into it would cross filesystems, and the folder that is below is not what has the path.
    @Test(.needs(.tmpfs)) func `doors accept nothing while something is mounted over their folder`() async throws {
        try await Bench.running { bench in
            let under = try DoorUnderTest(bench)
            try await under.announceApps()
            let new = bench.spool + "/weather/new"
            func told(_ word: String, _ client: Child) -> Set<Int> {
                numbers(word, client.log.split(separator: "\n"))
            }
            let lines = try await under.pushing(from: 1) { door, client in
                try await eventually("some are accepted: \(client.log)") { told("accepted", client).count >= 8 }
                try await tool(["mount", "-t", "tmpfs", "tmpfs", new], logs: bench.home + "/logs")
                do {
                    try await eventually("each door refuses: \(client.log.suffix(500)) \(door.log.suffix(2000))") {
                        Set(told("refused", client).map { $0 % 4 }).count == 4
                    }
                    #expect(try FileManager.default.contentsOfDirectory(atPath: new).isEmpty)
                    #expect(door.log.contains("keep both folders on one filesystem"), "\(door.log.suffix(2000))")
                } catch {
                    try await tool(["umount", "--lazy", new], logs: bench.home + "/logs")
                    throw error
                }
                try await tool(["umount", "--lazy", new], logs: bench.home + "/logs")
                let before = told("accepted", client).count
                try await eventually("each door accepts again: \(client.log.suffix(500)) \(door.log.suffix(2000))") {
                    told("accepted", client).count >= before + 8
                }
            }
            let (accepted, counts) = (numbers("accepted", lines), try await sent(bench))
            report("doors, mounted over: \(accepted.count) accepted, \(counts.count) sent; seed \(seed)")
            #expect(accepted.isSubset(of: counts.keys), "\(accepted.subtracting(counts.keys))")
            #expect(numbers("refused", lines).isDisjoint(with: counts.keys) && counts.values.allSatisfy { $0 == 1 })
        }
    }

    @Test func `deaths of the doors and of the daemon lose nothing, and double at most what was in flight`()
        async throws
    {
        let (deaths, share) = isFullRun ? (100, 1_500) : (6, 60)
        try await Bench.running { bench in
            let under = try DoorUnderTest(bench)
            try await under.announceApps()
            let first = try await under.start()
            let ports = try under.ports(of: first)
            try await first.destroy()
            try under.configure(ports: ports)
            // Each of the four has a door of its own.
            let clients = try (0..<4).map { try under.startClient(from: 4 + $0, by: 4, count: share, ports: ports) }
            var generator = SeededGenerator(seed: seed)
            var (deathCount, daemonDeaths) = (0, 0)
            for round in 0..<deaths {
                try await bench.withDaemon { daemon in
                    let door = try await under.start()
                    try await moment(.milliseconds(.random(in: 100...900, using: &generator)))
                    try await door.destroy()
                    deathCount += 1
                    // When `withDaemon` ends, the daemon dies: in a quick run with every second door.
                    if !isFullRun, round % 2 == 0 { #expect(try await daemon.stop() == 0) } else { daemonDeaths += 1 }
                }
                if clients.allSatisfy({ !$0.process.isRunning }) { break }
            }
            let door = try await under.start()
            for client in clients {
                #expect(try await client.end(within: .seconds(600)) == 0, "\(client.log.suffix(2000))")
            }
            try await door.destroy()
            let counts = try await sent(bench)
            let doubled = counts.values.reduce(0) { $0 + $1 - 1 }
            report(
                "doors deaths: \(deathCount) of the doors, \(daemonDeaths) of the daemon; \(4 * share) accepted, lost "
                    + "\(4 * share - counts.count), doubled \(doubled); seed \(seed)")
            #expect(counts.count == 4 * share)
            // Of the doors: a request of each client whose answer was lost. Of the daemon: its window and a group.
            #expect(doubled <= deathCount * 4 + daemonDeaths * bench.allowance)
        }
    }
}
