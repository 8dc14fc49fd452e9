import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// Volumes that are full.
@Suite(.serialized) struct SpaceTests {
    /// A small volume, and limits that let a daemon work on it.
    static func setup(_ kind: Volume.Kind, _ change: (inout Volume.Shape) -> Void = { _ in }) -> Bench.Setup {
        var shape = Volume.Shape(kind: kind)
        change(&shape)
        return Bench.Setup(daemon: smallLimits, volume: shape)
    }

    static let smallLimits = "limits: {free_space: 1MiB}\njournal: {size: 8MiB}"

    @Test(.needs(.ext4)) func `an ext4 that is full from any file operation on costs nobody anything`() async throws {
        try await sweep(.ext4)
    }

    @Test(.needs(.xfs), .full) func `an xfs that is full from any file operation on costs nobody anything`()
        async throws
    {
        try await sweep(.xfs)
    }

    @Test(.needs(.btrfs), .full) func `a btrfs that is full from any file operation on costs nobody anything`()
        async throws
    {
        try await sweep(.btrfs)
    }

    private func sweep(_ kind: Volume.Kind) async throws {
        let hits = try await Sweep.run(step: 11, quick: 3) { number in
            try await Bench.running(Self.setup(kind)) { bench in
                let volume = try #require(bench.volume)
                try bench.dropTwenty()
                let isHit = try await bench.run(to: Failpoint(number: number, action: .stop)) { daemon in
                    try await volume.fill()
                    daemon.send(SIGCONT)
                    try await moment(.milliseconds(400))
                    try await volume.empty()
                    try await eventually("the rest") { try bench.isIdle() || !daemon.process.isRunning }
                    let code = try await daemon.stop()
                    #expect([0, 75].contains(code), "\(code): \(daemon.log.suffix(1000))")
                }
                let verdict = try await bench.judge("C18 enospc-sweep-\(kind) at \(number)", allowance: 0)
                #expect(verdict.isGood, "\(verdict)")
                return isHit
            }
        }
        #expect(hits > 1, "the daemon has no failpoints, or ended before them")
    }

    @Test(.needs(.ext4)) func `a start on a full volume is put off until there is space`() async throws {
        try await Bench.running(Self.setup(.ext4)) { bench in
            let volume = try #require(bench.volume)
            try bench.dropTwenty()
            try await volume.fill()
            try await bench.withDaemon { daemon in
                let code = try await daemon.end()
                #expect(code == 75 && daemon.log.contains("space") && daemon.log.contains("hint: "), "\(daemon.log)")
            }
            try await volume.empty()
            let verdict = try await bench.judge("C18 enospc at the start", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test(.needs(.ext4)) func `many jobs that end on a full volume are archived when there is space again`()
        async throws
    {
        let count = trials(150, full: 1_500)
        var setup = Self.setup(.ext4)
        (setup.latency, setup.window) = (.seconds(3), 2_000)
        try await Bench.running(setup) { bench in
            let volume = try #require(bench.volume)
            try await bench.withDaemon { daemon in
                for number in 1...count { try bench.drop(Drop(number: number, count: 1)) }
                try await eventually("all claimed") { bench.names(in: "weather/new").isEmpty }
                try await volume.fill()
                try await bench.arrived(count)
                try await moment(.seconds(trials(2, full: 4)))
                try await volume.empty()
                try await eventually("all archived") { try bench.isIdle() }
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("C19 enospc-rename \(count) jobs", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    fileprivate enum Scarce: String {
        case ext4Inodes, tmpfsInodes, quota
    }

    @Test(.needs(.ext4)) func `without inodes on ext4 jobs wait, and are sent when there are some again`() async throws
    {
        try await lack(.ext4Inodes)
    }

    @Test(.needs(.tmpfs)) func `without inodes on tmpfs jobs wait, and are sent when there are some again`()
        async throws
    {
        try await lack(.tmpfsInodes)
    }

    @Test(.needs(.btrfs)) func `without quota jobs wait, and are sent when there is some again`() async throws {
        try await lack(.quota)
    }

    private func lack(_ scarce: Scarce) async throws {
        try await Bench.running(scarce.setup) { bench in
            let volume = try #require(bench.volume)
            if scarce == .quota { try await volume.limitQuota() }
            var code: Int32 = 0
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                for number in 1...20 { try bench.drop(Drop(number: number, count: 3)) }
                if scarce == .quota { try await volume.fill() } else { try await volume.fillInodes() }
                for number in 1...3 where scarce != .quota { try? bench.drop(Drop(number: 20 + number, count: 1)) }
                try await moment(.seconds(1))
                try await volume.empty()
                // A sync that fails for want of quota ends the daemon as any other does.
                try await eventually("all archived: \(daemon.log.suffix(3000))") {
                    try bench.isIdle() || scarce == .quota && !daemon.process.isRunning
                }
                code = try await daemon.stop()
                #expect(code == 0 || scarce == .quota && code == 75, "\(code): \(daemon.log.suffix(2000))")
            }
            let verdict = try await bench.judge(
                "\(scarce == .quota ? "C21 quota" : "C20 inodes-out \(scarce)"), exit \(code)",
                allowance: code == 0 ? 0 : nil)
            #expect(verdict.isGood, "\(verdict)")
        }
    }
}

extension SpaceTests.Scarce {
    /// A bench with little of it.
    fileprivate var setup: Bench.Setup {
        switch self {
        case .ext4Inodes: SpaceTests.setup(.ext4) { $0.making = ["-N", "3000"] }
        case .tmpfsInodes:
            SpaceTests.setup(.tmpfs) { $0.mounting = ["size=100m", "nr_inodes=3000"] }
        // ext4's quota needs a kernel with CONFIG_QFMT_V2; a limited subvolume of btrfs fails with EDQUOT as well.
        case .quota: SpaceTests.setup(.btrfs)
        }
    }
}
