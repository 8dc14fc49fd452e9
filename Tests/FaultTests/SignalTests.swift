import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// Signals and pauses in the middle of the work.
@Suite(.serialized) struct SignalTests {
    /// A signal, and what it may cost.
    struct Signal: Sendable, CustomStringConvertible {
        let name: String
        let numbers: [Int32]
        let ends: Bool
        var description: String { name }
    }

    static let signals = [
        Signal(name: "TERM", numbers: [SIGTERM], ends: true),
        Signal(name: "HUP", numbers: [SIGHUP], ends: false),
        Signal(name: "PIPE", numbers: [SIGPIPE], ends: false),
        Signal(name: "XFSZ", numbers: [SIGXFSZ], ends: false),
    ]

    @Test(arguments: signals)
    func `no signal under load loses or doubles anybody`(signal: Signal) async throws {
        try await Bench.running(.init(latency: .milliseconds(5))) { bench in
            try await Producers(bench: bench, seed: seed).running {
                for _ in 0..<trials(2, full: 20) {
                    try await bench.withDaemon { daemon in
                        try await daemon.says("app started")
                        let count = bench.drops.count
                        try await eventually("load") { bench.drops.count > count + 24 }
                        for number in signal.numbers { daemon.send(number) }
                        if !signal.ends {
                            try await eventually("more load") { bench.drops.count > count + 40 }
                            #expect(daemon.process.isRunning)
                            daemon.send(SIGTERM)
                        }
                        // One TERM only: a second one does not wait for what is on the wire.
                        #expect(try await daemon.end() == 0, "\(daemon.log.suffix(1000))")
                    }
                }
            }
            let verdict = try await bench.judge("A6 term-drain \(signal)", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test func `a second TERM does not wait, and costs no more than what was on the wire`() async throws {
        try await Bench.running(.init(latency: .milliseconds(100))) { bench in
            try await Producers(bench: bench, seed: seed).running {
                for _ in 0..<trials(2, full: 20) {
                    try await bench.withDaemon(drain: 3_600) { daemon in
                        let arrived = await bench.simulator.ledger.arrivedCount
                        try await eventually("load") { await bench.simulator.ledger.arrivedCount > arrived + 50 }
                        daemon.send(SIGTERM)
                        try await daemon.says("stopping")
                        daemon.send(SIGTERM)
                        #expect(try await daemon.end() == 0)
                    }
                }
            }
            let window = bench.setup.window
            let verdict = try await bench.judge("A6 term-drain TERM twice", allowance: window)
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test func `a job that is being read when the end is asked for stays where it is, unsent`() async throws {
        try await Bench.running(.init(daemon: MemoryVolume.smallJournal)) { bench in
            let drop = Drop(number: 1, count: 400_000, isInLines: true)
            let journal = [try BuiltProgram.path, "journal", "\(bench.spool)/.pushspool/node-a/journal"]
            try bench.drop(drop)
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                // While somebody looks, the reading stands still: on a busy machine the look takes longer.
                try await eventually("a reading") {
                    daemon.send(SIGSTOP)
                    if try await tool(journal, logs: bench.home + "/logs").contains("START") { return true }
                    daemon.send(SIGCONT)
                    return false
                }
                daemon.send(SIGTERM)
                daemon.send(SIGCONT)
                #expect(try await daemon.end() == 0)
            }
            let arrivedCount = await bench.simulator.ledger.arrivedCount
            report("A6 term-drain while reading: \(arrivedCount) sent; seed \(seed), \(bench.age) s")
            #expect(bench.names(in: "weather/new") == [drop.name] && bench.claimed("weather").isEmpty)
            #expect(arrivedCount == 0)
        }
    }

    @Test func `a daemon that is stopped for a while and goes on has lost and doubled nobody`() async throws {
        let pauses: [Duration] = isFullRun ? [.seconds(1), .seconds(5), .seconds(30), .seconds(120)] : [.seconds(1)]
        try await Bench.running(.init(latency: .milliseconds(20))) { bench in
            for (round, pause) in pauses.enumerated() {
                try await bench.withDaemon { daemon in
                    for number in 1...40 { try bench.drop(Drop(number: round * 100 + number, count: 20)) }
                    let arrived = await bench.simulator.ledger.arrivedCount
                    try await eventually("load") { await bench.simulator.ledger.arrivedCount > arrived + 100 }
                    daemon.send(SIGSTOP)
                    try await moment(pause)
                    for number in 41...60 { try bench.drop(Drop(number: round * 100 + number, count: 5)) }
                    daemon.send(SIGCONT)
                    try await eventually("all done") { try bench.isIdle() }
                    #expect(try await daemon.stop() == 0)
                }
            }
            let verdict = try await bench.judge("A4 stop-cont \(pauses)", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }
}
