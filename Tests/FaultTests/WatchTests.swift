import Foundation
import GatewaySimulator
import Glibc
import LinuxIO
import TestSupport
import Testing

/// Systems that do not tell what happens in a folder, or tell too much.
@Suite(.serialized) struct WatchTests {
    /// What there is too little of.
    enum Scarce: String, CaseIterable {
        case watches, instances
    }

    @Test(
        .needs("unshare"), .enabled(if: Namespace.isPossible(.user), "user namespaces are forbidden here"),
        arguments: Scarce.allCases)
    func `without watches the daemon says which limit it is and looks for itself`(scarce: Scarce) async throws {
        try await Bench.running { bench in
            let limit = "echo 0 > /proc/sys/user/max_inotify_\(scarce) && exec \"$0\" \"$@\""
            let command = ["unshare", "--user", "--map-root-user", "sh", "-c", limit] + (try bench.command())
            let daemon = try Child(command, logs: bench.home + "/logs")
            try await daemon.says("fs.inotify.max_user_\(scarce)")
            for number in 1...20 { try bench.drop(Drop(number: number, count: 2)) }
            try await eventually("all done") { try bench.isIdle() }
            #expect(try await daemon.stop() == 0)
            let verdict = try await bench.judge(
                "\(scarce == .watches ? "D32 watch" : "D33 instance")-limit", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test(.needs(.sshfs)) func `a filesystem without events is polled`() async throws {
        try await Bench.running(.init(daemon: MemoryVolume.smallJournal, volume: .init(kind: .sshfs))) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                // Behind its back: what is mounted knows nothing of it.
                for number in 1...20 { try bench.drop(Drop(number: number, count: 2)) }
                try await eventually("all done") { try bench.isIdle() }
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("D37 no-events-fs", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test func `a storm of events on one file costs little and sends it once`() async throws {
        let count = trials(20_000, full: 1_000_000)
        try await Bench.running { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.storm(count)
                try bench.drop(Drop(number: 1, count: 1))
                try await eventually("the job behind it") { try bench.isIdle() }
                try Self.checkCost(of: daemon, count)
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("D38 event-storm", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }
}

extension WatchTests {
    private static func checkCost(of daemon: Child, _ count: Int) throws {
        let seconds = try daemon.processorSeconds
        report("D38 event-storm: \(count) events cost \(seconds) s of processor time")
        #expect(seconds < Double(count) / 10_000 + 4)
    }
}

extension Bench {
    /// Changes a file in `new/`, which is no job yet and so stays, again and again.
    fileprivate func storm(_ count: Int) throws {
        let path = "\(spool)/weather/new/storm.json"
        try Data("{".utf8).write(to: URL(fileURLWithPath: path))
        for number in 0..<count { unsafe chmod(path, 0o640 + mode_t(number % 2) * 4) }
        try FileManager.default.removeItem(atPath: path)
    }
}

extension Child {
    /// How long processors have worked for it.
    var processorSeconds: Double {
        get throws {
            let text = try String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)
            let fields = (text.components(separatedBy: ") ").last ?? "").split(separator: " ")
            let ticks = fields[11...12].compactMap { Double($0) }.reduce(0, +)
            return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
        }
    }
}
