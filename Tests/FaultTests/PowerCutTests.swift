import Foundation
import GatewaySimulator
import Glibc
import LinuxIO
import TestSupport
import Testing

/// Losses of power.
@Suite(.serialized) struct PowerCutTests {
    @Test(.needs(.ext4), arguments: ["http2", "binary"])
    func `a power loss at any file operation loses nobody on ext4`(wire: String) async throws {
        try await sweep(.ext4, wire)
    }

    @Test(.needs(.xfs), .full, arguments: ["http2", "binary"])
    func `a power loss at any file operation loses nobody on xfs`(wire: String) async throws {
        try await sweep(.xfs, wire)
    }

    @Test(.needs(.btrfs), .full, arguments: ["http2", "binary"])
    func `a power loss at any file operation loses nobody on btrfs`(wire: String) async throws {
        try await sweep(.btrfs, wire)
    }

    private func sweep(_ kind: Volume.Kind, _ wire: String) async throws {
        let name = "\(kind == .ext4 ? "B8" : kind == .xfs ? "B9" : "B10") cut-sweep-\(kind) \(wire)"
        let hits = try await Sweep.run(step: 9, quick: 2) { number in
            try await Bench.running(.init(wire: wire, volume: .calm(kind))) { bench in
                try bench.dropTwenty()
                let isHit = try await bench.losePower(at: number)
                let verdict = try await bench.judge("\(name) at \(number)")
                #expect(verdict.isGood, "\(verdict)")
                return isHit
            }
        }
        report("\(name): \(hits) losses of power")
        #expect(hits > 1, "the daemon has no failpoints, or ended before them")
    }

    @Test(.needs(.ext4)) func `a power loss at a random moment loses nobody`() async throws {
        var generator = SeededGenerator(seed: seed)
        for round in 0..<trials(2, full: 100) {
            let delay = Int.random(in: 50...900, using: &generator)
            try await Bench.running(.init(latency: .milliseconds(5), volume: .calm(.ext4))) { bench in
                try bench.dropTwenty()
                for number in 21...80 { try bench.drop(Drop(number: number, count: number % 9 + 1)) }
                let volume = try #require(bench.volume)
                try await volume.settle()
                try await bench.withDaemon { daemon in
                    try await moment(.milliseconds(delay))
                    try await volume.losePower()
                    try await daemon.destroy()
                }
                try await volume.comeBack()
                let verdict = try await bench.judge("B8 cut-random-ext4 \(round), after \(delay) ms")
                #expect(verdict.isGood, "\(verdict)")
            }
        }
    }

    enum Producer: String, CaseIterable {
        case cp, cat, rsync, mv
    }

    @Test(.needs(.ext4), .needs("rsync"))
    func `what producers did not sync and we have claimed survives a power loss`() async throws {
        for kind in isFullRun ? [Volume.Kind.ext4, .xfs, .btrfs] : [.ext4] where Volume.obstacle(kind) == nil {
            try await Bench.running(.init(window: 1_000, latency: .seconds(20), volume: .calm(kind))) { bench in
                let volume = try #require(bench.volume)
                try await bench.withDaemon { daemon in
                    try await daemon.says("app started")
                    for (number, producer) in Producer.allCases.enumerated() {
                        try bench.stage((1...5).map { Drop(number: number * 10 + $0, count: $0 == 5 ? 1_200 : 2) })
                        try await bench.publish(by: producer)
                    }
                    try await eventually("all claimed") { bench.names(in: "weather/new").isEmpty }
                    try await volume.losePower()
                    try await daemon.destroy()
                }
                try await volume.comeBack()
                await bench.simulator.setHTTP2Manner(HTTP2Manner())
                let allowance = bench.allowance
                let verdict = try await bench.judge("B17 producer-no-fsync \(kind)", allowance: allowance)
                #expect(verdict.isGood, "\(verdict)")
            }
        }
    }

    @Test func `a job that is back in new and torn is restored, and its remains are not taken for another`()
        async throws
    {
        try await Bench.running(.init(latency: .milliseconds(20))) { bench in
            try bench.drop(Drop(number: 1, count: 600))
            try await bench.withDaemon { _ in try await bench.arrived(200) }
            let entry = try #require(bench.claimed("weather").first)
            let (work, new) = ("\(bench.spool)/weather/work/node-a/\(entry)", "\(bench.spool)/weather/new/j1.json")
            try FileManager.default.moveItem(atPath: work, toPath: new)
            try #require(unsafe truncate(new, 0) == 0)
            let verdict = try await bench.judge("B11 torn in new/")
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test(.needs(.btrfs)) func `a job that btrfs brings back in two places is one job`() async throws {
        try await Bench.running(.init(volume: .calm(.btrfs))) { bench in
            let volume = try #require(bench.volume)
            try await bench.withDaemon { try await $0.says("app started") }
            try bench.drop(Drop(number: 1, count: 3))
            try await volume.settle()
            let id = String(repeating: "0", count: 25) + "1"
            let (new, work) = ("\(volume.point)/spool/weather/new", "\(volume.point)/spool/weather/work/node-a")
            try await volume.run("mv", "\(new)/j1.json", "\(work)/\(id)-j1.json")
            try await volume.run("sync", work)
            try await volume.losePower()
            try await volume.comeBack()
            let places = (bench.names(in: "weather/new").count, bench.claimed("weather").count)
            report("B11 both-dirs-btrfs: after the power loss \(places.0) in new/ and \(places.1) in work/")
            let verdict = try await bench.judge("B11 both-dirs-btrfs", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }
}

extension Bench {
    /// Drops what is dropped for good, runs a daemon to its n-th file operation, and takes the power away there.
    func losePower(at number: Int) async throws -> Bool {
        guard let volume else { return false }
        try await volume.settle()
        let isHit = try await run(to: Failpoint(number: number, action: .stop)) { _ in try await volume.losePower() }
        if isHit { try await volume.comeBack() }
        return isHit
    }

    /// Puts jobs, and no others, where a producer can take them.
    fileprivate func stage(_ jobs: [Drop]) throws {
        let folder = try Directory.open(path: seenGround + "/staged")
        for name in try folder.names() { try folder.unlink(name) }
        for job in jobs {
            try folder.put(job.name, job.text)
            drops.append(job)
        }
    }

    /// Has a program that never syncs bring the staged jobs into `new/`.
    fileprivate func publish(by producer: PowerCutTests.Producer) async throws {
        let (from, new) = ("\(ground)/staged", "\(ground)/spool/weather/new")
        let command =
            switch producer {
            case .cp: "cp \(from)/* \(new)/"
            case .mv: "mv \(from)/* \(new)/"
            case .cat: "for f in \(from)/*; do cat $f > \(new)/${f##*/}; done"
            case .rsync: "rsync -rt \(from)/ \(new)/"
            }
        try await volume?.run("sh", "-c", command)
    }
}
