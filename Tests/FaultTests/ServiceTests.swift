import Foundation
import GatewaySimulator
import LinuxIO
import TestSupport
import Testing

/// The feedback service tells each token once: what a daemon has read of it must not get lost.
@Suite(.serialized) struct ServiceTests {
    private static let gone = (1...4).map { number in
        GoneToken(token: [UInt8](repeating: UInt8(number), count: 32), epochSeconds: UInt32(1_700_000_000 + number))
    }
    /// Each takes as much in the service's list.
    private static let entryByteCount = 38

    @Test(arguments: MemoryVolume.Order.allCases)
    func `tokens that were read of the feedback service survive a power loss`(order: MemoryVolume.Order)
        async throws
    {
        try await withService { bench in
            let states = try await bench.statesAfterReading(order, eliding: nil)
            #expect(states.allSatisfy { $0.keptByteCount >= 3 * Self.entryByteCount })
            try await bench.restart(with: states[0])
            try await bench.withDaemon { daemon in
                try await eventually("the tokens: \(daemon.log.suffix(2000))") {
                    try bench.lines("weather").count { $0.kind == "token" } >= 3
                }
            }
            report("B13 sync-elision none: state, \(order): 3 tokens told; seed \(seed), \(bench.age) s")
        }
    }

    @Test(arguments: MemoryVolume.Order.allCases)
    func `a daemon that does not sync what it has read of the service is found out`(order: MemoryVolume.Order)
        async throws
    {
        try await withService { bench in
            let states = try await bench.statesAfterReading(order, eliding: .state)
            let count = states.count { $0.keptByteCount < 3 * Self.entryByteCount }
            report("B13 sync-elision state, \(order): lost in \(count) of \(states.count) trees; seed \(seed)")
            #expect(count > 0, "no test misses the sync state")
        }
    }

    /// Runs a service that tells three tokens, and the fourth much later.
    private func withService(_ body: @Sendable (Bench) async throws -> Void) async throws {
        try await Bench.running(.init(wire: "binary")) { bench in
            var manner = FeedbackManner()
            (manner.pieceSizes, manner.pause) = ([3 * Self.entryByteCount], .seconds(60))
            await bench.simulator.setFeedbackManner(manner)
            await bench.simulator.addFeedback(Self.gone)
            let service = "feedback_service: {gateway: 'localhost:\(bench.simulator.ports.feedback)', every: 1h}"
            let file = try String(contentsOfFile: bench.home + "/etc/apps/weather.yaml", encoding: .utf8)
            try bench.write("etc/apps/weather.yaml", file + service + "\n")
            try await body(bench)
        }
    }
}

extension Bench {
    private var state: String { home + "/state" }

    /// Lets a daemon read of the service and die, and returns the folders of its state that a power loss may leave then.
    fileprivate func statesAfterReading(
        _ order: MemoryVolume.Order, eliding site: SyncSite?
    ) async throws -> [CrashState] {
        try makeState()
        var volume = try MemoryVolume(copying: Directory.open(path: state), order: order)
        let trace = home + "/trace"
        var environment = ["PUSHSPOOL_TRACE": trace, "PUSHSPOOL_FAILPOINT_UNDER": state]
        environment["PUSHSPOOL_ELIDE"] = site?.rawValue
        try await withDaemon(environment) { daemon in
            try await eventually("tokens kept: \(daemon.log.suffix(2000))") {
                let changes = try changes(in: trace)
                let end = changes.lastIndex {
                    if case .written(_, _, let bytes) = $0 { bytes.count > 100 } else { false }
                }
                return end.map { site != nil || changes.count > $0 + 1 } ?? false
            }
            try await daemon.destroy()
        }
        try volume.apply(try changes(in: trace))
        return volume.crashStates(seed: seed, count: 12)
    }

    private func changes(in trace: String) throws -> [FileChange] {
        FileChange.decode(Array(FileManager.default.contents(atPath: trace) ?? Data()))
    }

    /// Puts a state folder before the next daemon.
    fileprivate func restart(with found: CrashState) async throws {
        try FileManager.default.removeItem(atPath: state)
        try makeState()
        try found.materialize(at: Directory.open(path: state))
        await simulator.setFeedbackManner(FeedbackManner())
    }

    private func makeState() throws {
        try FileManager.default.createDirectory(
            atPath: state, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }
}

extension CrashState {
    /// How many bytes are kept of what the service told.
    fileprivate var keptByteCount: Int {
        (names(in: "") ?? []).filter { $0.hasSuffix(".raw") }.compactMap { bytes(of: $0) }.map { bytes in
            // What is zero was never written.
            bytes.contains { $0 != 0 } ? bytes.count : 0
        }.reduce(0, +)
    }
}
