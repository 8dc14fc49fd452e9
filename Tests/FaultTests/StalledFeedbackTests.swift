import Foundation
import TestSupport
import Testing

/// Results and feedback that cannot be written, or only slowly: the app waits with what it may keep, the others go on.
@Suite(.serialized) struct StalledFeedbackTests {
    @Test(.enabled(if: Immutable.isPossible, "needs chattr +i"))
    func `an app whose feedback cannot be written holds up no other, and goes on when it can`() async throws {
        try await Bench.running(
            .smallJournal {
                $0.script = "token=\(Recipient(job: 2, index: 0).token) answer status=400 reason=BadDeviceToken"
            }
        ) { bench in
            try await bench.withDaemon { daemon in
                let feedback = try await bench.freezeFeedback(of: "weather", daemon)
                defer { _ = Immutable.set(false, feedback) }
                try bench.drop(Drop(number: 2, count: 1))
                // One and a half times what the journal has room for.
                let numbers = (0..<trials(420, full: 1_500)).map { 2 * $0 + 101 }
                for number in numbers { try bench.drop(Drop(number: number, count: 1, padding: 30_000)) }
                try await eventually("the other app's jobs") {
                    bench.archived("news").count == numbers.count
                }
                #expect(bench.archived("weather").isEmpty)
                #expect(Immutable.set(false, feedback))
                try await eventually("the rest") { try bench.isIdle() }
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("J69 stalled-feedback", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    /// Files that fail, each with a result file: one whose only token is none, and one that is empty.
    enum Failing: String, CaseIterable {
        case rejected, empty
        var text: String { self == .empty ? "" : "{\"defaults\":{\"alert\":\"a\"}}\n{\"token\":\"none!\"}\n" }
    }

    @Test(arguments: Failing.allCases)
    func `a disk that is slow with the result files of one app does not delay another`(_ kind: Failing) async throws {
        try await Bench.running(.smallJournal()) { bench in
            let sabotage = try await Sabotage(on: bench)
            try sabotage.begin(.slowResult)
            try await bench.withDaemon(sabotage.environment) { daemon in
                try await daemon.says("app started")
                let count = 150
                for number in 0..<count { try bench.put("bad\(number).jsonl", kind.text, in: "weather") }
                try await eventually("results are written") { bench.archived("weather").count > 2 }
                for number in 0..<5 {
                    try bench.drop(Drop(number: 2 * number + 1, count: 1))
                    try await eventually("the other app's job") { bench.archived("news").count == number + 1 }
                }
                let failedCount = bench.archived("weather").count { !$0.hasSuffix(".result.json") }
                #expect(failedCount < count * 2 / 3, "the other app's jobs waited for the results of \(failedCount)")
                try sabotage.end(.slowResult)
                try await eventually("the rest") { bench.archived("weather").count == 2 * count }
                #expect(try await daemon.stop() == 0)
                report("J79 slow-results \(kind): \(failedCount) of \(count) failed beside 5 jobs: ok, \(bench.age) s")
            }
        }
    }

    @Test(.enabled(if: Immutable.isPossible, "needs chattr +i"))
    func `an app whose feedback cannot be written reads no further than its lines have room`() async throws {
        // At least three times as many bytes of lines as an app may keep.
        let count = trials(120_000, full: 250_000)
        try await Bench.running(.smallJournal()) { bench in
            try await bench.withDaemon { daemon in
                let feedback = try await bench.freezeFeedback(of: "weather", daemon)
                defer { _ = Immutable.set(false, feedback) }
                let line = #"{"token":"none!"}"# + "\n"
                let head = #"{"defaults":{"alert":"a"}}"# + "\n"
                try bench.put("huge.jsonl", head + String(repeating: line, count: count), in: "weather")
                let settledCount = try await bench.restingCount(of: "weather")
                #expect(settledCount < count / 2, "so many are in memory")
                let waits = "waits for feedback/ to be written"
                try await daemon.says("app \(waits)")
                try await eventually("a reason in the status") { try bench.status().contains(waits) }
                for number in 0..<10 { try bench.drop(Drop(number: 2 * number + 1, count: 3)) }
                try await eventually("the other app's jobs") { bench.archived("news").count == 10 }
                #expect(Immutable.set(false, feedback))
                try await eventually("all of it") { bench.archived("weather").count == 2 }
                try await daemon.says("app no longer waits for room")
                try await eventually("no reason in the status") { try !bench.status().contains(waits) }
                #expect(daemon.log.components(separatedBy: waits).count == 2, "told once")
                #expect(try await daemon.stop() == 0, "\(daemon.log.suffix(2000))")
            }
            let told = try bench.lines("weather").filter { $0.kind == "notification" }.compactMap(\.index)
            #expect(told.count == count && Set(told).count == count)
            report("J69 stalled-feedback, one long job: ok, \(bench.age) s")
        }
    }

    @Test(.enabled(if: Immutable.isPossible, "needs chattr +i"))
    func `an app that waits for room in the journal says so until there is some`() async throws {
        let script = "every=1 answer status=400 reason=BadDeviceToken"
        try await Bench.running(
            .smallJournal { ($0.window, $0.apps, $0.script) = (4, ["weather"], script) }
        ) { bench in
            try await bench.withDaemon { daemon in
                let feedback = try await bench.freezeFeedback(of: "weather", daemon)
                defer { _ = Immutable.set(false, feedback) }
                // They leave room for one job more, and hardly any for what becomes of it.
                for number in 1...16 { try bench.drop(Drop(number: number, count: 1, padding: 30_000)) }
                try await eventually("all are claimed") { bench.claimed("weather").count == 16 }
                try bench.drop(Drop(number: 100, count: 30_000, isInLines: true))
                // Whether that is to claim it or to send more of it depends on how outcomes fell into records.
                let waits = "waits for room in the journal to "
                try await daemon.says("app \(waits)")
                try await eventually("a reason in the status") { try bench.status().contains(waits) }
                #expect(Immutable.set(false, feedback))
                try await daemon.says("app no longer waits for room")
                try await eventually("no reason in the status") { try !bench.status().contains(waits) }
                try await eventually("all of it") { try bench.isIdle() }
                #expect(try await daemon.stop() == 0, "\(daemon.log.suffix(2000))")
            }
            let verdict = try await bench.judge("J69 stalled-feedback, a job that is read", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }
}

extension Bench {
    /// Has nothing be created in an app's `feedback/`, once the daemon has made that.
    ///
    /// - Returns: Its path, to make it changeable again.
    fileprivate func freezeFeedback(of app: String, _ daemon: Child) async throws -> String {
        let feedback = "\(spool)/\(app)/feedback"
        try await daemon.says("app started")
        try await eventually("folders") { FileManager.default.fileExists(atPath: feedback) }
        try #require(Immutable.set(true, feedback))
        return feedback
    }

    /// How many notifications of an app's only job have an outcome, as its status says, once that stays so for seconds.
    fileprivate func restingCount(of app: String) async throws -> Int {
        var counts: [Int] = []
        try await eventually("a job that rests, \(counts)") {
            try await moment(.seconds(1))
            counts.append(try settledCount(of: app) ?? -1)
            return counts.count > 3 && counts.suffix(3).allSatisfy { $0 == counts.last } && counts.max() != -1
        }
        return counts.max() ?? 0
    }

    private func settledCount(of app: String) throws -> Int? {
        let status = try JSONSerialization.jsonObject(with: Data(try status().utf8)) as? [String: Any]
        let apps = status?["apps"] as? [[String: Any]]
        let jobs = apps?.first { $0["app"] as? String == app }?["progress"] as? [[String: Any]]
        return jobs?.first?["settled"] as? Int
    }
}
