import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// Two relays before one spool of a cluster, as on two hosts: each has a state folder of its own.
@Suite struct SharedDoorTests {
    /// Runs a daemon of a cluster, with the files of two doors before its spool.
    private func running(
        script: String = "", relay: String = "", _ body: @Sendable (Bench, [Doorway]) async throws -> Void
    ) async throws {
        try await Modern(script).running { bench in
            let usual = try String(contentsOfFile: "\(bench.path)/etc/pushspool.yaml", encoding: .utf8)
            try bench.write("etc/pushspool.yaml", usual + "cluster: {lease: 5s}\n")
            try bench.configureModern()
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                let ways = [try Doorway(bench), try Doorway(bench, state: "doorstate2")]
                for way in ways where !relay.isEmpty { try way.configure(relay: relay) }
                try await body(bench, ways)
                #expect(try await daemon.stop() == 0, "\(daemon.log.suffix(2000))")
            }
        }
    }

    private static func id(_ number: Int) -> [String] {
        ["--header", "apns-id: 123e4567-e89b-12d3-a456-4266554400\(number)"]
    }

    /// How often the gateway has accepted each notification.
    private func counts(_ bench: Bench) async -> [[UInt8]: Int] {
        await bench.simulator.ledger.accepted.reduce(into: [:]) { $0[$1.token, default: 0] += 1 }
    }

    @Test func `what one door has taken is a repetition at the other one, also after its death`() async throws {
        try await running { bench, ways in
            try await ways[0].open { first in
                #expect(try await first.ask(1, Self.id(10)).status == "200")
                try await ways[1].open { second in
                    #expect(try await second.ask(1, Self.id(10)).status == "200")
                    #expect(try await second.ask(2, Self.id(10)).status == "200")
                    #expect(try await first.ask(2, Self.id(10)).status == "200")
                    try await first.program.destroy()
                    #expect(try await second.ask(1, Self.id(10)).status == "200")
                    #expect(try await second.ask(3).status == "200")
                    let ledger = try await bench.accepted(3)
                    #expect(ledger.arrivedCount == 3)
                    #expect(bench.names(in: "modern/tmp").filter { $0.hasPrefix(".pushspool-ids.") }.count == 2)
                }
            }
        }
    }

    @Test func `one request to both doors at once is sent once`() async throws {
        try await running { bench, ways in
            try await ways[0].open { first in
                try await ways[1].open { second in
                    for number in 10..<20 {
                        let (one, other) = (
                            try first.begin(number, Self.id(number)), try second.begin(number, Self.id(number))
                        )
                        #expect(try await first.answer(to: one).status == "200")
                        #expect(try await second.answer(to: other).status == "200")
                    }
                    let ledger = try await bench.accepted(10)
                    #expect(ledger.arrivedCount == 10)
                    let counts = await counts(bench)
                    #expect(counts.count == 10 && counts.values.allSatisfy { $0 == 1 }, "\(counts)")
                }
            }
        }
    }

    @Test func `an id whose refusal the client has heard is a new one at both doors`() async throws {
        let script = "answer reason=ServiceUnavailable"
        try await running(script: script, relay: "answer: gateway, wait: 60s") { bench, ways in
            try await ways[0].open { first in
                try await ways[1].open { second in
                    // Whatever door the client turns to, its request becomes a job each time, and hears how that ended.
                    for (earlierCount, door) in [first, second, second, first].enumerated() {
                        let request = try door.begin(1, Self.id(10))
                        try await cancelled(earlierCount + 1, in: bench)
                        #expect(try await door.answer(to: request).status == "503", "\(earlierCount)")
                    }
                }
            }
        }
    }

    @Test func `what a door knew as repeated is new to it once the other one has refused it`() async throws {
        let script = "answer reason=ServiceUnavailable"
        try await running(script: script, relay: "answer: gateway, wait: 60s") { bench, ways in
            try await ways[0].open { first in
                try await ways[1].open { second in
                    let request = try first.begin(1, Self.id(10))
                    try await eventually("the job is there") { !bench.names(in: "modern/work/node-a").isEmpty }
                    #expect(try await second.ask(1, Self.id(10)).status == "200")
                    try await cancelled(1, in: bench)
                    #expect(try await first.answer(to: request).status == "503")
                    let again = try second.begin(1, Self.id(10))
                    try await cancelled(2, in: bench)
                    #expect(try await second.answer(to: again).status == "503")
                }
            }
        }
    }

    /// Waits for a job to be claimed, and cancels it, so that so many have ended in all.
    private func cancelled(_ count: Int, in bench: Bench) async throws {
        try await eventually("a job") { !bench.names(in: "modern/work/node-a").isEmpty }
        try await eventually("\(count) jobs are cancelled") {
            _ = try await bench.operate("cancel", "--all")
            return bench.archived("failed", app: "modern").count { $0.hasSuffix(".result.json") } >= count
        }
    }

    /// Which file operations of a door to stop it at, from its start to the end of its first request.
    private static let operations = isFullRun ? Array(stride(from: 20, to: 70, by: 2)) : [26, 34, 42, 50]

    @Test(arguments: operations)
    func `while one door is stopped over a request, the other one neither sends it twice nor stops`(
        operation: Int
    ) async throws {
        try await running { bench, ways in
            let point = [
                "PUSHSPOOL_FAILPOINT=\(operation):stop", "PUSHSPOOL_FAILPOINT_UNDER=\(bench.path)/spool",
            ]
            try await ways[0].open(point) { first in
                try await ways[1].open { second in
                    let slow = try first.begin(1, Self.id(10))
                    let isStopped = try await standsStill(first.program, over: slow)
                    let status = try await second.ask(1, Self.id(10)).status
                    #expect(status == "200" || status == "503" && isStopped, "\(status)")
                    #expect(try await second.ask(2, Self.id(10)).status == "200")
                    first.program.send(SIGCONT)
                    #expect(try await first.answer(to: slow).status == "200")
                    #expect(try await second.ask(1, Self.id(10)).status == "200")
                    let ledger = try await bench.accepted(2)
                    #expect(ledger.arrivedCount == 2)
                    let counts = await counts(bench)
                    #expect(counts.count == 2 && counts.values.allSatisfy { $0 == 1 }, "\(counts)")
                }
            }
        }
    }

    /// Waits until a door stands still, or has answered a request. Returns whether it stands still.
    private func standsStill(_ program: Program, over request: Program) async throws -> Bool {
        let status = "/proc/\(program.process.processIdentifier)/stat"
        var isStopped = false
        try await eventually("the door stands still, or has answered") {
            let state = try String(contentsOfFile: status, encoding: .utf8).components(separatedBy: ") ").last
            isStopped = state?.hasPrefix("T") == true
            return isStopped || !request.process.isRunning
        }
        return isStopped
    }
}
