import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// File operations that fail, lie or do half of it, and limits of the process.
@Suite(.serialized) struct ErrorTests {
    @Test func `an input or output error at any file operation loses nobody`() async throws {
        let hits = try await Sweep.run(step: 3, quick: 4) { number in
            try await Bench.running { bench in
                try bench.dropTwenty()
                let point = Failpoint(number: number, action: .eio)
                var code: Int32 = 0
                try await bench.withDaemon(point.environment(bench)) { daemon in
                    let limit = ContinuousClock.now + .seconds(4)
                    while daemon.process.isRunning, ContinuousClock.now < limit, try !bench.isIdle() {
                        try await moment(.milliseconds(20))
                    }
                    code = try await daemon.stop()
                    #expect([0, 75, 78].contains(code), "\(code): \(daemon.log.suffix(1000))")
                }
                let verdict = try await bench.judge("C22 eio-sweep at \(number), exit \(code)")
                #expect(verdict.isGood, "\(verdict)")
                return number < 500
            }
        }
        report("C22 eio-sweep: \(hits) errors")
    }

    @Test func `one sync that fails ends the daemon, and the next start reads all again`() async throws {
        try await Bench.running(.init(latency: .milliseconds(10))) { bench in
            let sabotage = try await Sabotage(on: bench)
            for round in 0..<trials(2, full: 20) {
                try await bench.withDaemon(sabotage.environment) { daemon in
                    try await daemon.says("app started")
                    for number in 1...30 { try bench.drop(Drop(number: round * 100 + number, count: 20)) }
                    let arrived = await bench.simulator.ledger.arrivedCount
                    try await bench.arrived(arrived + 20 + round * 25)
                    try sabotage.begin(.syncOnce)
                    // The others may all have ended by now.
                    try bench.drop(Drop(number: round * 100 + 31, count: 20))
                    #expect(try await daemon.end() == 75, "\(daemon.log.suffix(2000))")
                    #expect(!sabotage.isOn(.syncOnce))
                }
            }
            let verdict = try await bench.judge("C23 fsync-eio-once")
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test func `a new file that cannot be synced is written again, and the daemon goes on`() async throws {
        try await Bench.running(.init(daemon: "journal: {sync_interval: 20ms}")) { bench in
            let sabotage = try await Sabotage(on: bench)
            try await bench.withDaemon(sabotage.environment) { daemon in
                try await daemon.says("app started")
                try sabotage.begin(.fullServer)
                for number in 1...10 { try bench.drop(Drop(number: number, count: 3, more: #","id":"\#(number)""#)) }
                try await daemon.says("No space left on device")
                try await bench.arrived(30)
                try await moment(.seconds(2))
                #expect(daemon.process.isRunning, "\(daemon.lastWords)")
                try sabotage.end(.fullServer)
                try await eventually("all done") { try bench.isIdle() }
                try sabotage.begin(.newFileOnce)
                try bench.drop(Drop(number: 11, count: 3))
                try await eventually("all done") { try bench.isIdle() && !sabotage.isOn(.newFileOnce) }
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("C18 full file server", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test func `a node of a cluster starts although a write of its earlier life has failed`() async throws {
        try await Bench.running(Bench.cluster()) { bench in
            let sabotage = try await Sabotage(on: bench)
            try await bench.withNodes("a") { _ in }
            for fault in [Sabotage.Fault.syncOnce, .syncAllOnce] {
                try sabotage.begin(fault)
                let node = try bench.start(node: "a", sabotage.environment)
                try await node.says("app started")
                #expect(!sabotage.isOn(fault))
                try await node.destroy()
            }
        }
    }

    @Test func `a job whose file cannot be synced waits, and nothing else does`() async throws {
        try await Bench.running { bench in
            let sabotage = try await Sabotage(on: bench)
            try sabotage.begin(.syncOfJob)
            for number in [13, 14] { try bench.drop(Drop(number: number, count: 2000)) }
            try await bench.withDaemon(sabotage.environment) { daemon in
                try await daemon.says("sync before a claim")
                try await bench.arrived(2000)
                try bench.drop(Drop(number: 15, count: 2000))
                try await bench.arrived(4000)
                try sabotage.end(.syncOfJob)
                try await eventually("all done") { try bench.isIdle() }
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("C23 fsync-eio of a job", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test func `a job whose file takes long to be synced delays no other app`() async throws {
        try await Bench.running(.init(apps: ["weather", "news"])) { bench in
            let sabotage = try await Sabotage(on: bench)
            try sabotage.begin(.heldSyncOfJob)
            try bench.drop(Drop(number: 13, count: 2000))
            try await bench.withDaemon(sabotage.environment) { daemon in
                try await eventually("the sync") { !sabotage.isOn(.heldSyncOfJob) }
                try bench.drop(Drop(number: 14, count: 3))
                try await eventually("the other job, which need not wait for the sync") {
                    bench.archived("weather").contains { $0.hasSuffix("/j14.json") }
                }
                #expect(await bench.simulator.ledger.arrivedCount == 3, "something was sent before it was synced")
                try sabotage.begin(.letGo)
                try await eventually("all done") { try bench.isIdle() }
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test func `short and interrupted reads and writes change nothing`() async throws {
        try await Bench.running { bench in
            let sabotage = try await Sabotage(on: bench)
            try sabotage.begin(.short)
            try bench.dropTwenty()
            try await bench.withDaemon(sabotage.environment) { daemon in
                try await eventually("all done") { try bench.isIdle() }
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("C24 short-write-eintr", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test(arguments: [Sabotage.Fault.lyingRename, .deniedRename])
    func `a rename that lies claims nothing that is not ours, and loses nothing that is`(fault: Sabotage.Fault)
        async throws
    {
        try await Bench.running { bench in
            let sabotage = try await Sabotage(on: bench)
            try await bench.withDaemon(sabotage.environment) { daemon in
                try await daemon.says("app started")
                try sabotage.begin(fault)
                for number in 1...20 { try bench.drop(Drop(number: number, count: 2)) }
                try await moment(.milliseconds(600))
                try sabotage.end(fault)
                try await moment(.milliseconds(300))
                try await daemon.destroy()
            }
            let verdict = try await bench.judge("C25 lying-rename \(fault)")
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test func `with few descriptors all is sent, if slowly`() async throws {
        try await Bench.running { bench in
            // What one app needs at least, and 3 for what a test may leave open in the processes that it starts.
            let command = ["prlimit", "--nofile=94:94"] + (try bench.command())
            try bench.dropTwenty()
            for number in 21...(isFullRun ? 200 : 70) { try bench.drop(Drop(number: number, count: 2)) }
            let daemon = try Child(command, logs: bench.home + "/logs")
            try await eventually("all done, \(bench.archived("weather").count) are: \(daemon.log.suffix(2000))") {
                try bench.isIdle()
            }
            #expect(try await daemon.stop() == 0)
            let verdict = try await bench.judge("C27 fd-limit", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test(arguments: ["40000", "4194304"])
    func `a limit on the length of files is told, and costs nobody anything`(limit: String) async throws {
        try await Bench.running { bench in
            let command = ["prlimit", "--fsize=\(limit)"] + (try bench.command(drain: 1))
            try bench.dropTwenty()
            let daemon = try Child(command, logs: bench.home + "/logs")
            try await moment(.seconds(1))
            let code = try await daemon.stop()
            #expect([0, 75, 78].contains(code), "\(code): \(daemon.log.suffix(1000))")
            let verdict = try await bench.judge("C28 fsize-limit \(limit), exit \(code)")
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test func `a job that kills its reader is held at the third start, and the others are sent`() async throws {
        try await Bench.running { bench in
            let sabotage = try await Sabotage(on: bench)
            try sabotage.begin(.poison)
            for number in 1...5 { try bench.drop(Drop(number: number, count: 2)) }
            try bench.poison("poison.json")
            for number in 6...9 { try bench.drop(Drop(number: number, count: 2)) }
            var deaths = 0
            while deaths < 10, !bench.names(in: "weather/hold").contains("poison.json") {
                try await bench.withDaemon(sabotage.environment) { daemon in
                    try await eventually("a death, or the job held") {
                        !daemon.process.isRunning || bench.names(in: "weather/hold").contains("poison.json")
                    }
                    deaths += daemon.process.isRunning ? 0 : 1
                }
            }
            report("A7 poison-job: held after \(deaths) deaths")
            #expect(deaths == 2 && bench.names(in: "weather/hold") == ["poison.json"])
            try bench.removeHeld("poison.json")
            let verdict = try await bench.judge("A7 poison-job")
            #expect(verdict.isGood, "\(verdict)")
        }
    }
}

extension Bench {
    /// Drops a job that `Sabotage.Fault.poison` makes deadly; it is not among those to be judged.
    fileprivate func poison(_ name: String) throws {
        let text = #"{"token":"\#(Recipient(job: 99_999, index: 0).token)","alert":"PUSHSPOOL-POISON"}"#
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(seenGround)/staged/\(name)"))
        try FileManager.default.moveItem(
            atPath: "\(seenGround)/staged/\(name)", toPath: "\(spool)/weather/new/\(name)")
    }

    /// Takes away a job that was held.
    fileprivate func removeHeld(_ name: String) throws {
        try FileManager.default.removeItem(atPath: "\(spool)/weather/hold/\(name)")
    }
}
