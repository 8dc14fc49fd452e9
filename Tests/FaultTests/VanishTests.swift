import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// Spools that become read-only, hang or go away under a daemon.
@Suite(.serialized) struct VanishTests {
    @Test(.needs(.ext4)) func `a volume that turns read-only costs nobody anything`() async throws {
        var shape = Volume.Shape(kind: .ext4, megabytes: 330, mounting: ["errors=remount-ro"])
        shape.making = ["-e", "remount-ro"]
        try await Bench.running(.init(latency: .milliseconds(20), volume: shape)) { bench in
            let volume = try #require(bench.volume)
            try await bench.withDaemon { daemon in
                for number in 1...30 { try bench.drop(Drop(number: number, count: 20)) }
                try await volume.settle()
                try await bench.arrived(100)
                try await volume.breakDown()
                try await moment(.seconds(1))
                let code = try await daemon.stop()
                #expect([0, 75].contains(code), "\(code): \(daemon.log.suffix(2000))")
            }
            try await volume.unmount()
            try await volume.repair()
            try await volume.mount()
            let verdict = try await bench.judge("C26 ro-remount")
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    /// How a spool goes away.
    enum Way: String, CaseIterable {
        case removed, renamed, unmounted, mountedOver
    }

    @Test(.needs(.ext4), arguments: Way.allCases)
    func `a spool that goes away leaves a daemon that ends well, and jobs that are sent when it is back`(way: Way)
        async throws
    {
        try await Bench.running(.init(latency: .milliseconds(20), volume: .init(kind: .ext4, megabytes: 330))) {
            bench in
            let volume = try #require(bench.volume)
            try await bench.withDaemon(drain: 1) { daemon in
                try await daemon.says("app started")
                for number in 1...20 { try bench.drop(Drop(number: number, count: 20)) }
                try await bench.arrived(100)
                try await volume.vanish(by: way)
                try await moment(.seconds(1))
                let code = try await daemon.stop()
                #expect([0, 75].contains(code), "\(code): \(daemon.log.suffix(2000))")
            }
            try await volume.giveBack(by: way)
            // What was removed is gone for good; the rest must be whole.
            guard way != .removed else {
                report("C30 spool-vanishes removed; seed \(seed), \(bench.age) s")
                return try await bench.finish(within: .seconds(1))
            }
            let verdict = try await bench.judge("C30 spool-vanishes \(way)")
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test(.needs(.sshfs)) func `a filesystem that hangs holds up nothing for longer than it hangs`() async throws {
        try await Bench.running(.init(daemon: MemoryVolume.smallJournal, volume: .init(kind: .sshfs))) { bench in
            let volume = try #require(bench.volume)
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                for number in 1...20 { try bench.drop(Drop(number: number, count: 5)) }
                try await bench.arrived(10)
                // A process that waits for it cannot be killed either.
                defer { try? volume.sendServer(SIGCONT) }
                try volume.sendServer(SIGSTOP)
                try await moment(.seconds(trials(2, full: 60)))
                try volume.sendServer(SIGCONT)
                try await eventually("all done") { try bench.isIdle() }
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("C29 fs-hang", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test(.needs(.sshfs)) func `an app whose filesystem hangs is said to be stuck, and the others go on`() async throws
    {
        let setup = Bench.Setup(apps: ["near", "far"], volume: .init(kind: .sshfs), appOnVolume: "far")
        try await Bench.running(setup) { bench in
            let volume = try #require(bench.volume)
            try await bench.withDaemon { daemon in
                try await bench.starts(daemon)
                for number in 1...10 { try bench.drop(Drop(number: number, count: 5)) }
                try await bench.arrived(50)
                // A process that waits for it cannot be killed either.
                defer { try? volume.sendServer(SIGCONT) }
                try volume.sendServer(SIGSTOP)
                for number in 11...30 { try bench.drop(Drop(number: number, count: 5)) }
                try await eventually("the near jobs") {
                    bench.names(in: "near/new").isEmpty && bench.claimed("near").isEmpty
                }
                try await bench.says(daemon, state: "stuck")
                // It knows that now; what comes later is not held up by the look at the other either.
                for number in 31...40 { try bench.drop(Drop(number: number, count: 5)) }
                try await eventually("more near jobs") { bench.names(in: "near/new").isEmpty }
                try volume.sendServer(SIGCONT)
                try await eventually("all done") { try bench.isIdle() }
                try await daemon.says("app's filesystem responds again")
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("C29 fs-hang of one app", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test(.needs(.sshfs)) func `a daemon can be stopped while an app is stuck, and ends the others well`() async throws
    {
        try await Self.stopping("C29 fs-hang of one app, and a stop", drain: 1) { bench, daemon in
            try await bench.says(daemon, state: "stuck")
        }
    }

    @Test(.needs(.sshfs)) func `a daemon that is stopped when a filesystem has just begun to hang ends in time`()
        async throws
    {
        try await Self.stopping("C29 fs-hang that begins, and a stop", drain: 2) { _, _ in
            // Longer than the app lets the filesystem alone, and too short for it to be known to be stuck.
            try await moment(.seconds(3))
        } atEnd: { daemon in
            #expect(daemon.log.components(separatedBy: "app=far").last?.contains("next start resumes") == true)
        }
    }

    /// Makes an exit take two seconds more once it has destroyed what libraries have: other threads go on meanwhile.
    private static let slowExit = """
        #include <unistd.h>

        __attribute__((destructor)) static void linger(void) { sleep(2); }
        """

    /// Stops a daemon while the filesystem of one of its two apps hangs, and judges what became of the jobs: `wait` comes between
    /// the beginning of the hang and the stop, and `look` when the daemon has said that it ends.
    private static func stopping(
        _ fault: String, drain: Int, after wait: @escaping @Sendable (Bench, Child) async throws -> Void,
        atEnd look: @escaping @Sendable (Child) -> Void = { _ in }
    ) async throws {
        let setup = Bench.Setup(
            latency: .milliseconds(20), apps: ["near", "far"], volume: .init(kind: .sshfs), appOnVolume: "far")
        try await Bench.running(setup) { bench in
            let volume = try #require(bench.volume)
            let library = try await SabotageLibrary(slowExit, in: bench.home + "/slow-exit")
            try await bench.withDaemon(library.environment, drain: drain) { daemon in
                try await bench.starts(daemon)
                for number in 1...40 { try bench.drop(Drop(number: number, count: 20)) }
                try await bench.arrived(50)
                // A process that waits for it cannot be killed either.
                defer { try? volume.sendServer(SIGCONT) }
                try volume.sendServer(SIGSTOP)
                try await wait(bench, daemon)
                daemon.send(SIGTERM)
                try await daemon.says("stopped without waiting for stuck apps")
                look(daemon)
                #expect(bench.claimed("near").isEmpty)
                // The kernel may keep a process whose thread waits for a server until that answers. The thread then goes on
                // beside the end of the process, which must not have destroyed what it uses.
                try volume.sendServer(SIGCONT)
                #expect(try await daemon.end() == 75, "\(daemon.log.suffix(2000))")
            }
            let verdict = try await bench.judge(fault)
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test(.needs(.sshfs)) func `a filesystem whose server dies is used again when it is mounted again`() async throws {
        try await Bench.running(
            .init(latency: .milliseconds(50), daemon: MemoryVolume.smallJournal, volume: .init(kind: .sshfs))
        ) { bench in
            let volume = try #require(bench.volume)
            try await bench.withDaemon(drain: 1) { daemon in
                try await daemon.says("app started")
                for number in 1...20 { try bench.drop(Drop(number: number, count: 5)) }
                try await bench.arrived(10)
                try volume.sendServer(SIGKILL)
                try await moment(.seconds(1))
                let code = try await daemon.stop()
                #expect([0, 75].contains(code), "\(code): \(daemon.log.suffix(2000))")
            }
            try await volume.unmount()
            try await volume.mount()
            let verdict = try await bench.judge("C29 fs-hang, the server killed")
            #expect(verdict.isGood, "\(verdict)")
        }
    }
}

extension Bench {
    /// Waits until all apps have started.
    fileprivate func starts(_ daemon: Child) async throws {
        try await eventually("all apps") {
            daemon.log.components(separatedBy: "app started").count > setup.apps.count
        }
    }

    /// Waits until the daemon says of the app on the volume, and of no other, that it is in a state.
    fileprivate func says(_ daemon: Child, state: String) async throws {
        let file = "\(spool)/.pushspool/public/node-a/status.json"
        var lines: [Substring] = []
        try await eventually("state \(state)") {
            let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
            lines = text.split(separator: "{").filter { $0.contains("\"state\":\"\(state)\"") }
            return !lines.isEmpty
        }
        #expect(lines.count == 1 && lines[0].contains(#""app":"\#(setup.appOnVolume ?? "")""#), "\(lines)")
    }
}

extension Volume {
    /// Has ext4 find an error in itself, after which it is read-only.
    fileprivate func breakDown() async throws {
        let device = try await run("findmnt", "-n", "-o", "SOURCE", point).trimmingCharacters(
            in: .whitespacesAndNewlines)
        let name = URL(fileURLWithPath: device).lastPathComponent
        try Data("1".utf8).write(to: URL(fileURLWithPath: "/sys/fs/ext4/\(name)/trigger_fs_error"))
    }

    /// Has the filesystem's own program mend it.
    fileprivate func repair() async throws {
        let child = try Child(["e2fsck", "-f", "-y", image], logs: "/tmp")
        let code = try await child.end()
        child.forget()
        #expect([0, 1].contains(code), "e2fsck: \(code)")
    }

    fileprivate func vanish(by way: VanishTests.Way) async throws {
        switch way {
        case .removed: try await run("sh", "-c", "rm -rf \(point)/spool; true")
        case .renamed: try await run("mv", point + "/spool", point + "/away")
        case .unmounted: try await run("umount", "--lazy", point)
        case .mountedOver: try await run("mount", "-t", "tmpfs", "tmpfs", point)
        }
    }

    fileprivate func giveBack(by way: VanishTests.Way) async throws {
        switch way {
        case .removed: try await run("mkdir", "-p", point + "/spool/weather/new")
        case .renamed: try await run("sh", "-c", "rm -rf \(point)/spool && mv \(point)/away \(point)/spool")
        case .unmounted: try await mount()
        case .mountedOver: try await unmount()
        }
    }
}
