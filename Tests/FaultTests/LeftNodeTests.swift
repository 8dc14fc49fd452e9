import Foundation
import GatewaySimulator
import Glibc
import LinuxIO
import TestSupport
import Testing

/// A daemon that works alone and starts under another node name than the one before, as in a new container.
@Suite(.serialized) struct LeftNodeTests {
    @Test func `jobs of another node name are finished, and what it had is removed`() async throws {
        try await Bench.running(.init(window: 20, latency: .milliseconds(10))) { bench in
            try await bench.withDaemon { daemon in
                for number in 0..<12 { try bench.drop(Drop(number: number, count: 100)) }
                try await bench.arrived(150)
                try await daemon.destroy()
            }
            let left = bench.names(in: "weather/work/node-a").count
            #expect(left > 0)
            try bench.rename(to: "node-b")
            try await bench.withDaemon { daemon in
                try await daemon.says("jobs of node node-a taken over: its journal is not in use")
                try await eventually("all done") {
                    bench.names(in: "weather/work").flatMap { bench.names(in: "weather/work/" + $0) }.isEmpty
                        && bench.names(in: "weather/new").isEmpty
                }
                try await daemon.says("no longer standing in")
                #expect(bench.names(in: "weather/work") == ["node-b"])
                #expect(bench.names(in: ".pushspool") == ["node-b", "public"])
                #expect(bench.names(in: ".pushspool/public") == ["node-b"])
                #expect(try await daemon.stop() == 0)
            }
            let (lost, doubled) = try await bench.losses()
            #expect(lost == 0 && doubled <= bench.allowance)
        }
    }

    @Test func `an id that another node name has sent, or has under way, is not sent again`() async throws {
        try await Bench.running(.init(window: 20, latency: .milliseconds(10))) { bench in
            try await bench.withDaemon { daemon in
                try bench.drop(Drop(number: 1, count: 1, more: #","id":"sent""#))
                try await eventually("done") { bench.archived("weather").contains { $0.hasSuffix("/j1.json") } }
                try bench.drop(Drop(number: 2, count: 400, more: #","id":"way""#))
                try await bench.arrived(50)
                try await daemon.destroy()
            }
            for (number, id) in [(3, "sent"), (4, "way")] {
                try bench.drop(Drop(number: number, count: 400, more: #","id":"\#(id)""#))
            }
            try bench.rename(to: "node-b")
            try await bench.withDaemon { daemon in
                try await eventually("all ended") {
                    bench.archived("weather").count { !$0.hasSuffix(".result.json") } == 4
                }
                #expect(try await daemon.stop() == 0)
            }
            let failed = bench.archived("weather").filter { $0.hasPrefix("failed/") && !$0.hasSuffix(".result.json") }
            #expect(failed.map { String($0.suffix(7)) }.sorted() == ["j3.json", "j4.json"], "\(failed)")
            #expect(try await bench.entries().count <= 401 + bench.allowance)
        }
    }

    @Test func `operators see whose jobs are left, and a command on one says that it may work later`() async throws {
        try await Bench.running(.init(window: 20, latency: .milliseconds(10))) { bench in
            try await bench.leaveJob(of: 1000)
            let journal = "\(bench.spool)/.pushspool/node-a/journal"
            try FileManager.default.moveItem(atPath: journal, toPath: bench.home + "/journal")
            try await bench.withDaemon { daemon in
                try await daemon.says("jobs of another node wait")
                #expect(daemon.log.contains("its journal is missing"), "\(daemon.log)")
                let spool = "\(bench.ground)/spool"
                let config = bench.home + "/etc/pushspool.yaml"
                try await eventually("the status") {
                    try await bench.operate("status", "--config", config).log.contains(
                        "1 job of node node-a waits: its journal is missing")
                }
                for command in [["list", "--spool", spool], ["show", "--spool", spool, "j1.json"]] {
                    #expect(try await bench.operate(command).log.contains("node-a"))
                }
                let end = try await bench.operate("cancel", "--config", config, "weather/j1.json")
                #expect(end.code == 75 && end.log.contains("belongs to node node-a: its journal is missing"), "\(end)")
                let doctor = try await bench.operate("doctor", "--config", config)
                #expect(doctor.log.contains("of node node-a, and its journal is missing"), "\(doctor)")
                #expect(try await daemon.stop() == 0)
            }
            let end = try await bench.operate(
                "cancel", "--config", bench.home + "/etc/pushspool.yaml", "weather/j1.json")
            #expect(end.code == 75 && end.log.contains("belongs to node node-a"), "\(end)")
        }
    }

    @Test func `a journal of another node that cannot be read is a fault, with what to do with its jobs`() async throws
    {
        try await Bench.running(.init(window: 20, latency: .milliseconds(10))) { bench in
            try await bench.leaveJob(of: 1000)
            let path = "\(bench.spool)/.pushspool/node-a/journal"
            let journal = try FileHandle(forUpdating: URL(filePath: path))
            try journal.write(contentsOf: Data(repeating: 0x5a, count: 8192))
            try journal.close()
            try await bench.withDaemon { daemon in
                try await daemon.says("another node cannot be looked after")
                #expect(!daemon.log.contains("the daemon resends jobs"), "\(daemon.log)")
                let config = bench.home + "/etc/pushspool.yaml"
                let remedy = "move the files from work/node-a/ to new/"
                try await eventually("the status") {
                    let log = try await bench.operate("status", "--config", config).log
                    return log.contains("1 job of node node-a waits: ") && log.contains(remedy)
                }
                let doctor = try await bench.operate("doctor", "--config", config)
                #expect(doctor.log.contains("1 job of node node-a, and ") && doctor.log.contains(remedy), "\(doctor)")
                #expect(doctor.code == 78, "\(doctor)")
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test func `a job of another node name is cancelled while it is finished`() async throws {
        try await Bench.running(.init(window: 20, latency: .milliseconds(20))) { bench in
            try await bench.leaveJob(of: 20_000)
            try await bench.withDaemon { daemon in
                try await daemon.says("job resumed")
                let config = bench.home + "/etc/pushspool.yaml"
                let end = try await bench.operate("cancel", "--config", config, "weather/j1.json")
                #expect(end.code == 0, "\(end)")
                try await eventually("its end") {
                    bench.archived("weather").contains { $0.hasPrefix("failed/") && $0.hasSuffix("/j1.json") }
                }
                #expect(try await daemon.stop() == 0)
            }
        }
    }
}

extension Bench {
    /// Gives the daemon another node name.
    fileprivate func rename(to node: String) throws {
        let text = try String(contentsOfFile: home + "/etc/pushspool.yaml", encoding: .utf8)
        try write("etc/pushspool.yaml", text.replacing("node: node-a", with: "node: \(node)"))
    }

    /// Drops a job, kills the daemon amid it, and gives it another node name.
    fileprivate func leaveJob(of count: Int) async throws {
        try await withDaemon { daemon in
            try drop(Drop(number: 1, count: count))
            try await arrived(50)
            try await daemon.destroy()
        }
        try rename(to: "node-b")
    }

    /// Runs a command of the program to its end.
    fileprivate func operate(_ words: String...) async throws -> (code: Int32, log: String) { try await operate(words) }

    fileprivate func operate(_ words: [String]) async throws -> (code: Int32, log: String) {
        let child = try Child([try BuiltProgram.path] + words, logs: home + "/logs")
        let code = try await child.end()
        defer { child.forget() }
        return (code, child.log)
    }
}
