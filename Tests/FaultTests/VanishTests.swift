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
                try await volume.take(by: way)
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
                try volume.sendServer(SIGSTOP)
                try await moment(.seconds(trials(2, full: 60)))
                try volume.sendServer(SIGCONT)
                try await eventually("all done", within: .seconds(60)) { try bench.isIdle() }
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("C29 fs-hang", allowance: 0)
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

    fileprivate func take(by way: VanishTests.Way) async throws {
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
