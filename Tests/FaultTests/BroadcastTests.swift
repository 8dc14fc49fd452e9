import Foundation
import GatewaySimulator
import TestSupport
import Testing

/// Broadcasts under deaths of the daemon, and with a gateway that leaves and refuses.
@Suite(.serialized) struct BroadcastTests {
    /// The base64 id of one of fifty channels.
    private static func channel(_ number: Int) -> String {
        Data("channel-\(100 + number % 50)".utf8).base64EncodedString()
    }

    private static func job(_ number: Int) -> String {
        let aps = #"{"event":"update","timestamp":1795262400,"content-state":{"number":\#(number)}}"#
        return #"{"channel":"\#(channel(number))","payload":{"aps":\#(aps)}}"#
    }

    /// Runs one trial: a daemon that dies at a file operation with a broadcast, and the next one.
    ///
    /// - Returns: whether it died.
    private static func trial(_ number: Int) async throws -> Bool {
        try await Bench.running { bench in
            try bench.drop(job(number), as: "goal.json")
            var (isHit, isRecorded) = (false, false)
            let point = Failpoint(number: number, action: .kill)
            try await bench.withDaemon(point.environment(bench)) { daemon in
                try await eventually("death \(number), or the job's end: \(daemon.log.suffix(2000))") {
                    isHit = !daemon.process.isRunning
                    return isHit || bench.ended == ["goal.json"]
                }
            }
            if isHit { isRecorded = try await bench.journalText().contains("RESULT") }
            try await bench.withDaemon { daemon in
                try await eventually("the job's end: \(daemon.log.suffix(2000))") { bench.ended == ["goal.json"] }
                #expect(try await daemon.stop() == 0)
            }
            let ledger = await bench.simulator.ledger
            let ids = Set(ledger.accepted.compactMap { $0.request?["apns-request-id"] })
            #expect(ids.count == 1 && ledger.acceptedCount <= 2, "death \(number): \(ledger.acceptedCount) accepted")
            if isRecorded { #expect(ledger.acceptedCount == 1, "death \(number), with a recorded outcome") }
            let lines = try bench.lines("weather").filter { $0.kind == "job" }
            #expect(Set(lines.map(\.job)) == ["goal.json"] && lines.allSatisfy { $0.accepted == 1 }, "\(lines)")
            return isHit
        }
    }

    @Test func `a death at any file operation doubles a broadcast only while its outcome is not recorded`() async throws
    {
        var hits = 0
        // A daemon with one job makes at least 60 operations in its spool.
        let numbers = isFullRun ? Array(1...2_000) : stride(from: Int(seed % 10) + 1, to: 60, by: 10).map(\.self)
        for number in numbers {
            guard try await Self.trial(number) else { break }
            hits += 1
        }
        #expect(hits >= (isFullRun ? 60 : numbers.count), "\(hits) deaths")
    }

    @Test(.timeLimit(.minutes(60)))
    func `broadcasts over fifty channels are accepted once each, whatever the gateway ends and refuses`() async throws {
        let count = trials(1_000, full: 100_000)
        let script = """
            every=397 goaway undone=3 reason=Shutdown
            probability=0.005 seed=9 answer status=503 reason=ServiceUnavailable
            """
        let setup = Bench.Setup(script: script, app: GatewayTests.quickRetry)
        try await Bench.running(setup) { bench in
            try await bench.withDaemon { daemon in
                for number in 0..<count { try bench.drop(Self.job(number), as: "\(number).json") }
                try await eventually("all done; \(daemon.log.suffix(2000))", within: .seconds(600)) {
                    bench.ended.count >= count
                }
                #expect(try await daemon.stop() == 0)
            }
            let ledger = await bench.simulator.ledger
            let payloads = ledger.accepted.map { String(decoding: $0.payload, as: UTF8.self) }
            #expect(payloads.count == count && Set(payloads).count == count)
            let channels = Dictionary(grouping: ledger.accepted, by: { $0.request?["apns-channel-id"] ?? "" })
            #expect(channels.count == 50 && channels.values.allSatisfy { $0.count == count / 50 })
            #expect(ledger.refusedCount > count / 500 && ledger.discardedCount > 0 && ledger.violations.isEmpty)
            report(
                "\(count) broadcasts, \(ledger.refusedCount) refused, \(ledger.discardedCount) left undone, \(bench.age) s"
            )
        }
    }
}

extension Bench {
    /// Drops a job of any text.
    fileprivate func drop(_ text: String, as name: String) throws {
        let staged = "\(seenGround)/staged/\(name)"
        try Data(text.utf8).write(to: URL(fileURLWithPath: staged))
        try FileManager.default.moveItem(atPath: staged, toPath: "\(spool)/weather/new/\(name)")
    }

    /// The jobs that are done.
    fileprivate var ended: [String] {
        names(in: "weather/done").flatMap { names(in: "weather/done/\($0)") }.filter { !$0.hasSuffix(".result.json") }
    }

    /// What `pushspool journal` prints.
    fileprivate func journalText() async throws -> String {
        let path = "\(ground)/spool/.pushspool/node-a/journal"
        let program = try Child([try BuiltProgram.path, "journal", path], logs: home + "/logs")
        // A death may come before there is a journal.
        try await program.end()
        return program.log
    }
}
