import Foundation
import Glibc
import TestSupport
import Testing

/// Clients that would have a relay's memory, time or connections for themselves, while an honest one pushes.
@Suite struct DoorHostilityTests {
    /// The most memory that a relay may have taken in the end, in KiB.
    private static let memoryLimit = 200 << 10

    /// Something that a hostile client does, how often, and how its connection must end.
    struct Attack: Sendable, CustomTestStringConvertible {
        let act: String
        let count: Int
        /// Whether the relay must end the connection while the client acts.
        let endsConnection: Bool
        /// More lines of the door's configuration.
        var configuration = ""

        var testDescription: String { act }

        static let quick = [
            Attack(act: "half", count: 1, endsConnection: true),
            Attack(act: "halves", count: 20_000, endsConnection: true),
            Attack(act: "continuations", count: 20_000, endsConnection: true),
            Attack(act: "pings", count: 5_000, endsConnection: false),
            Attack(act: "idle", count: 40, endsConnection: true, configuration: "limits: {connections: 20}"),
            Attack(act: "bad", count: 20, endsConnection: true, configuration: "limits: {connections: 20}"),
        ]
        static let others = [
            Attack(act: "unread", count: 200_000, endsConnection: true),
            Attack(act: "junk", count: 1, endsConnection: true),
            Attack(act: "resets", count: 100_000, endsConnection: false),
            Attack(act: "settings", count: 5_000, endsConnection: false),
        ]
    }

    @Test(arguments: isFullRun ? Attack.quick + Attack.others : Attack.quick)
    func `a hostile client is left, takes little memory, and harms nobody else`(attack: Attack) async throws {
        try await Modern().serving { bench, _ in
            try await Doorway(bench, attack.configuration).open { door in
                let hostile = try Program(
                    "/usr/bin/env",
                    [
                        "python3", "-c", HostileClient.program, try door.port(of: "relay"), "\(bench.path)/door/ca.pem",
                        attack.act,
                        "\(attack.count)",
                    ], logs: bench.path + "/logs")
                let number = try await askAlongside(hostile, door)
                #expect(hostile.process.terminationStatus == 0, "\(hostile.log)")
                let end = hostile.text.split(separator: "\n").last ?? ""
                if attack.endsConnection { #expect(end.hasPrefix("closed") || end.hasPrefix("reset"), "\(end)") }
                try await eventually("an honest request") { (try? await door.ask(number + 1))?.status == "200" }
                #expect(try peak(of: door.program) < Self.memoryLimit)
                #expect(try await door.program.stop() == 0, "\(door.program.log.suffix(2000))")
            }
        }
    }

    /// Lets an honest client ask again and again until the hostile one has ended. Returns how often it asked.
    private func askAlongside(_ hostile: Program, _ door: OpenDoor) async throws -> Int {
        var number = 0
        while hostile.process.isRunning {
            number += 1
            let answer = try await door.ask(number)
            #expect(answer.status == "200", "\(answer.text)")
            try await moment(.milliseconds(500))
        }
        return number
    }

    /// The most memory that a program has taken, in KiB.
    private func peak(of program: Program) throws -> Int {
        let status = try String(
            contentsOfFile: "/proc/\(program.process.processIdentifier)/status", encoding: .utf8)
        let peak = try #require(status.firstMatch(of: #/VmHWM:\s*(\d+) kB/#)?.output.1)
        return Int(peak) ?? .max
    }
}
