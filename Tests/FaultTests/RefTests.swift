import Foundation
import LinuxIO
import TestSupport
import Testing

/// What is kept of the ids that producers give their jobs, so that no job is sent a second time under another name.
@Suite(.serialized) struct RefTests {
    private static var points: [Int] {
        guard !isFullRun else { return Array(stride(from: 1 + Int(seed % 2), to: 240, by: 2)) }
        var generator = SeededGenerator(seed: seed)
        return (0..<3).map { Int.random(in: $0 * 50 + 1...$0 * 50 + 50, using: &generator) }
    }

    /// Everything that happens from the drop to the end of a job is within reach, in `state` as well as in the spool.
    @Test func `a death at any file operation lets no second job of an id be sent`() async throws {
        var deaths = 0
        for number in Self.points {
            let isHit = try await Bench.running { bench in
                let (first, second) = (
                    Drop(number: 1, count: 3, more: #","id":"once""#), Drop(number: 2, count: 2, more: #","id":"once""#)
                )
                try bench.drop(first)
                let more = ["PUSHSPOOL_FAILPOINT_UNDER": bench.home]
                let isHit = try await bench.run(to: Failpoint(number: number, action: .kill), more)
                try bench.drop(second)
                let verdict = try await bench.judge("A1 kill9-sweep of ids at \(number)")
                let others = Invariant.allCases.filter { $0 != .nobodyLost }
                #expect(others.allSatisfy { verdict.holds($0) } && verdict.lostCount == second.count, "\(verdict)")
                let lines = try bench.lines("weather").filter { $0.kind == "job" }
                #expect(lines.last { $0.job == first.name }?.state == "done", "\(lines)")
                #expect(lines.last { $0.job == second.name }?.code == "duplicate", "\(lines)")
                return isHit
            }
            deaths += isHit ? 1 : 0
        }
        report("A1 kill9-sweep of ids: \(deaths) deaths")
        #expect(deaths > 0, "the daemon has no failpoints, or ended before them")
    }

    @Test(arguments: MemoryVolume.Order.allCases)
    func `what is kept of an id survives a power loss, and is missed without its sync`(order: MemoryVolume.Order)
        async throws
    {
        for site in [nil, SyncSite.state] {
            try await Bench.running { bench in
                let states = try await bench.statesAfterEnd(of: "once", order, eliding: site)
                let lost = states.count { !$0.keepsRef("once") }
                report("B13 sync-elision \(site?.rawValue ?? "none"), ids, \(order): lost in \(lost); seed \(seed)")
                #expect(site == nil ? lost == 0 : lost > 0)
            }
        }
    }
}

extension Bench {
    private var state: String { home + "/state" }

    /// Lets a daemon send a job with an id and die, and returns the folders of its state that a power loss may leave then.
    fileprivate func statesAfterEnd(
        of ref: String, _ order: MemoryVolume.Order, eliding site: SyncSite?
    ) async throws -> [CrashState] {
        try FileManager.default.createDirectory(
            atPath: state, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        var volume = try MemoryVolume(copying: Directory.open(path: state), order: order)
        let trace = home + "/trace"
        var environment = ["PUSHSPOOL_TRACE": trace, "PUSHSPOOL_FAILPOINT_UNDER": state]
        environment["PUSHSPOOL_ELIDE"] = site?.rawValue
        try drop(Drop(number: 1, count: 1, more: #","id":"\#(ref)""#))
        try await withDaemon(environment) { daemon in
            try await eventually("the end of the job: \(daemon.log.suffix(2000))") { try isIdle() }
            try await daemon.destroy()
        }
        try volume.apply(FileChange.decode(Array(try Data(contentsOf: URL(fileURLWithPath: trace)))))
        return volume.crashStates(seed: seed, count: 12)
    }
}

extension CrashState {
    /// Whether a job with the ref is known to have been sent.
    fileprivate func keepsRef(_ ref: String) -> Bool {
        (names(in: "dedupe") ?? []).compactMap { bytes(of: "dedupe/\($0)") }
            .contains { String(decoding: $0, as: UTF8.self).hasSuffix(" \(ref)\n") }
    }
}
