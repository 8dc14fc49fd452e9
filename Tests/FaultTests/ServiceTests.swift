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

    @Test(.timeLimit(.minutes(10)))
    func `a service that never ends fills neither disk nor memory, and holds up no other app`() async throws {
        try await withEndlessService { bench in
            try await bench.withDaemon { daemon in
                try await eventually("it is read") { bench.keptByteCount > 1 << 20 }
                try bench.drop(Drop(number: 1, count: 20))
                try await eventually("the other's job: \(daemon.log.suffix(2000))") { !bench.archived("other").isEmpty }
                #expect(!daemon.log.contains("feedback received"), "the reading is over: nothing is seen")
                try await daemon.says("feedback service was not read to its end")
                #expect(bench.keptByteCount <= 65 << 20)
                try await daemon.says("feedback received")
                try await eventually("it is told") { try bench.lines("weather").count { $0.kind == "token" } == 4 }
                #expect(try daemon.peakMemory < 256 << 20)
            }
            report("J73 endless-feedback: 64 MiB read; \(bench.age) s")
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `what an earlier daemon has kept without a bound is told, and holds up no other app`() async throws {
        try await withService { bench in
            try bench.keepLong(Self.gone, byteCount: 128 << 20)
            try await bench.withDaemon { daemon in
                try await daemon.says("app started app=other")
                try bench.drop(Drop(number: 1, count: 20))
                try await eventually("the other's job: \(daemon.log.suffix(2000))") { !bench.archived("other").isEmpty }
                #expect(bench.keptByteCount > 0, "all is told: nothing is seen")
                try await daemon.says("feedback received")
                try await eventually("nothing is kept") { bench.keptByteCount < 1 << 20 }
                #expect(try daemon.peakMemory < 256 << 20)
            }
            report("J73 endless-feedback: 128 MiB kept; \(bench.age) s")
        }
    }

    /// Runs a service that tells its tokens again and again, beside an app that has none.
    private func withEndlessService(_ body: @Sendable (Bench) async throws -> Void) async throws {
        try await withService { bench in
            var manner = FeedbackManner()
            manner.isEndless = true
            await bench.simulator.addFeedback((0..<500).flatMap { _ in Self.gone })
            await bench.simulator.setFeedbackManner(manner)
            try await body(bench)
        }
    }

    /// Runs a service that tells three tokens, and the fourth much later.
    private func withService(_ body: @Sendable (Bench) async throws -> Void) async throws {
        try await Bench.running(.init(wire: "binary", apps: ["weather", "other"])) { bench in
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

    /// How many bytes of the service's are kept.
    fileprivate var keptByteCount: Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: state)) ?? []
        return names.filter { $0.hasSuffix(".raw") }.reduce(0) { sum, name in
            let facts = try? FileManager.default.attributesOfItem(atPath: "\(state)/\(name)")
            return sum + (facts?[.size] as? Int ?? 0)
        }
    }

    /// Leaves a file as a daemon did that read as much as the service told.
    fileprivate func keepLong(_ tokens: [GoneToken], byteCount: Int) throws {
        try makeState()
        var piece = Data()
        while piece.count < 1 << 20 {
            for token in tokens {
                let seconds = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: token.epochSeconds >> $0) }
                piece += seconds + [0, 32] + token.token
            }
        }
        let path = "\(state)/feedback-weather-20260101T000000.000000Z.raw"
        try Data().write(to: URL(fileURLWithPath: path))
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        for _ in 0..<byteCount / piece.count { try file.write(contentsOf: piece) }
        try file.close()
    }

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
