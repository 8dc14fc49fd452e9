import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// Gateways and networks that leave the outcome in doubt.
@Suite(.serialized) struct GatewayTests {
    static let endings = ["close", "cut", "reset"]

    /// Connection after connection ends one notification later than the one before, in turn in each way, and after the
    /// first answers: else the daemon would wait longer and longer before it connects.
    static func ends(_ numbers: ClosedRange<Int>) -> String {
        numbers.enumerated().map { "connection=\($0 + 1) after=\(60 + $1) \(endings[$1 % 3])" }.joined(separator: "\n")
    }

    static let quickRetry = "retry: {later: 1s, server_error: 1s, ceiling: 2s}"

    @Test(arguments: ["http2", "binary"], 0..<(isFullRun ? 8 : 1))
    func `answers that are lost at every boundary double no more than a window each`(
        wire: String, part: Int
    ) async throws {
        let setup = Bench.Setup(
            // After more of them windows are as small as they can be, and the daemon waits longer and longer.
            script: Self.ends(8 * part + 1...8 * part + trials(4, full: 8)), wire: wire, window: 30,
            latency: .milliseconds(10), app: Self.quickRetry)
        try await Bench.running(setup) { bench in
            try await bench.withDaemon { daemon in
                for number in 1...trials(15, full: 30) { try bench.drop(Drop(number: number, count: 20)) }
                try await eventually("all done") { try bench.isIdle() }
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("H61 ack-lost \(wire)", allowance: setup.window)
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test func `a gateway that leaves in the middle of a window doubles nobody`() async throws {
        let script = "every=70 goaway undone=20 reason=Shutdown"
        let setup = Bench.Setup(script: script, latency: .milliseconds(20), app: Self.quickRetry)
        try await Bench.running(setup) { bench in
            try await bench.withDaemon { daemon in
                for number in 1...(isFullRun ? 500 : 30) { try bench.drop(Drop(number: number, count: 20)) }
                try await eventually("all done") { try bench.isIdle() }
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("H62 goaway", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test func `a storm of refusals ends with everybody served, once`() async throws {
        let script = """
            probability=0.1 seed=3 answer status=429 reason=TooManyRequests
            probability=0.1 seed=4 answer status=503 reason=ServiceUnavailable
            probability=0.05 seed=5 refuse-stream
            """
        let setup = Bench.Setup(script: script, latency: .milliseconds(5), app: Self.quickRetry)
        try await Bench.running(setup) { bench in
            try await bench.withDaemon { daemon in
                for number in 1...(isFullRun ? 500 : 40) { try bench.drop(Drop(number: number, count: 10)) }
                try await eventually("all done") { try bench.isIdle() }
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("H63 refuse-storm", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
            #expect(await bench.simulator.ledger.refusedCount > 20)
        }
    }

    @Test(
        .enabled(if: Island.obstacle == nil, Comment(rawValue: Island.obstacle ?? "")), arguments: ["http2", "binary"])
    func `packets that vanish without a word lose nobody`(wire: String) async throws {
        try await swallowing("H64 black-hole \(wire)", wire, allowance: Bench.Setup().window) { bench, island, _ in
            for number in 1...30 { try bench.drop(Drop(number: number, count: 20)) }
            try await bench.arrived(100)
            try await island.swallow()
            for number in 31...40 { try bench.drop(Drop(number: number, count: 3)) }
            try await moment(.seconds(isFullRun ? 40 : 3))
        }
    }

    @Test(
        .enabled(if: Island.obstacle == nil, Comment(rawValue: Island.obstacle ?? "")), arguments: ["http2", "binary"])
    func `what was only written before the network failed arrives once when it is back`(wire: String) async throws {
        try await swallowing("H64 black-hole of \(wire), answered before", wire, allowance: 0) {
            bench, island, daemon in
            try bench.drop(Drop(number: 1, count: 20))
            try await eventually("the first is done") { try bench.isIdle() }
            try await island.swallow()
            for number in 2...11 { try bench.drop(Drop(number: number, count: 3)) }
            // Another connection that cannot be opened meanwhile ends with nothing in doubt.
            try await eventually("the connection is given up") { daemon.log.contains("possible_duplicates=") }
        }
    }

    /// Runs `body`, which makes a network swallow packets, lets them through again, and judges what became of the jobs.
    private func swallowing(
        _ title: String, _ wire: String, allowance: Int,
        _ body: @escaping @Sendable (Bench, Island, Child) async throws -> Void
    ) async throws {
        // On a busy machine answers take a while, and a recipient whose answer comes too late is sent to again.
        let setup = Bench.Setup(
            wire: wire, app: Self.quickRetry + "\ntimeouts: {connect: 1s, answer: 10s}", isOnIsland: true)
        try await Bench.running(setup) { bench in
            let island = try #require(bench.island)
            try await island.withGateway {
                try await bench.withDaemon { daemon in
                    try await body(bench, island, daemon)
                    try await island.openAgain()
                    try await eventually("all done") { try bench.isIdle() }
                    #expect(try await daemon.stop() == 0)
                }
                let verdict = try await bench.judge(title, allowance: allowance)
                #expect(verdict.isGood, "\(verdict)")
            }
        }
    }
}
