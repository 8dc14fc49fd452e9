import Document
import JSON
import JobFormat
import JournalModel
import PushModel
import SpoolModel
import TestSupport
import Testing

@Suite struct RemainderTests {
    private static let noon = WallTime(epochSeconds: 1_795_262_400)
    private static let refused = Outcome.rejected(Refusal(status: 400, reason: "x", verdict: .message))

    /// A job that has come some way, by chance.
    private static func sent(_ random: inout SeededGenerator) -> Remainder.Sent {
        let count = Int.random(in: 1...200, using: &random)
        var machine = JobMachine(remaining: IndexRuns(0..<count), tally: Tally())
        var runs: [Outcome.Kind: IndexRuns] = [:]
        let later = Refusal(status: nil, reason: "x", verdict: .later)
        let outcomes: [Outcome] = [.accepted, refused, .rejected(later), .expired, .unsent(later), .unknown]
        for _ in 0..<20 {
            let start = Int.random(in: 0..<count, using: &random)
            let outcome = outcomes.randomElement(using: &random) ?? .accepted
            for part in machine.remaining.intersection(start..<min(count, start + 9)) {
                _ = machine.settle(part, outcome)
                if outcome != .accepted { runs[outcome.kind, default: IndexRuns()].insert(part) }
            }
        }
        var progress = JournalProgress(remaining: machine.remaining)
        progress.tally = machine.tally
        progress.runs = runs
        return Remainder.Sent(id: JobID(bits: 77), ref: "r\"1", count: count, progress: progress)
    }

    private func read(_ bytes: [UInt8]) throws -> Remainder? {
        var parser = JSON.Parser()
        return Remainder(try parser.parse(bytes).root)
    }

    @Test func `what is written is read again`() throws {
        for seed in UInt64(0)..<200 {
            var random = SeededGenerator(seed: seed)
            var remainder = Remainder(
                of: Remainder.File(inode: .max, byteCount: 17, modifiedAt: -3), droppedAt: Self.noon)
            #expect(try read(remainder.bytes) == remainder, "seed \(seed)")
            let sent = Self.sent(&random)
            remainder.sent = sent
            #expect(try read(remainder.bytes) == remainder, "seed \(seed)")
        }
    }

    @Test func `what cannot be is not believed`() throws {
        var random = SeededGenerator(seed: 1)
        var remainder = Remainder(of: Remainder.File(inode: 1, byteCount: 17, modifiedAt: 3), droppedAt: Self.noon)
        var sent = Self.sent(&random)
        sent.progress = JournalProgress(remaining: IndexRuns(2..<9))
        sent.progress.tally.add(.accepted, count: 2)
        sent.count = 9
        remainder.sent = sent
        let text = String(decoding: remainder.bytes, as: UTF8.self)
        #expect(try read(Array(text.utf8)) == remainder)
        for (good, bad) in [
            ("[[2,8]]", "[[2,9]]"), ("[[2,8]]", "[[8,2]]"), ("[[2,8]]", "[[-1,5]]"), ("[[2,8]]", "7"),
            ("[[2,8]]", "[[2]]"), ("\"accepted\":2", "\"accepted\":\"2\""), ("\"v\":1", "\"v\":2"),
            ("\"inode\":\"1\"", "\"inode\":\"-1\""), ("\"bytes\":17,", ""), ("\(sent.id)", "7"),
        ] {
            #expect(text.contains(good))
            #expect(try read(Array(text.replacing(good, with: bad).utf8)) == nil, "\(bad)")
        }
    }

    /// What no count can be.
    private static let wrongCounts: [Int] = [
        Int.max, Int.max - 1, 1 << 62, (1 << 40) + 1, -(1 << 40) - 1, Int.min + 1, Int.min,
    ]

    /// A remainder with these counts, which are none unless they are told.
    private func remainder(with told: [String: Int]) -> [UInt8] {
        let words = ["notifications", "accepted", "refused", "invalid", "expired", "unsent", "unknown"]
        let counts = words.map { "\"\($0)\":\(told[$0] ?? 0)" }.joined(separator: ",")
        let file = #""file":{"inode":"1","bytes":17,"mtime_ns":3}"#
        let text =
            #"{"v":1,"id":"\#(JobID(bits: 5))","dropped_at":"2026-11-21T12:00:00Z",\#(file),"#
            + #""counts":{\#(counts)},"indexes":{}}"#
        return Array(text.utf8)
    }

    @Test(arguments: ["notifications", "accepted", "refused", "invalid", "expired", "unsent", "unknown"])
    func `a count that no job has makes a remainder none`(word: String) throws {
        for count in [0, 9, 1 << 40] { #expect(try read(remainder(with: [word: count]))?.sent != nil, "\(count)") }
        for count in Self.wrongCounts { #expect(try read(remainder(with: [word: count])) == nil, "\(count)") }
        let isBelowNothing = try read(remainder(with: [word: -1])) != nil
        #expect(isBelowNothing == (word == "accepted"), "corrections alone take something back")
    }

    @Test func `the greatest counts of a remainder have a sum`() throws {
        let most = 1 << 40
        let words = ["accepted", "refused", "invalid", "expired", "unsent", "unknown"]
        let all = Dictionary(uniqueKeysWithValues: words.map { ($0, most) })
        let greatest = try #require(try read(remainder(with: all)))
        #expect(greatest.sent?.progress.tally.total == 6 * most && greatest.isSentAnyway)
        let overflowing = ["accepted": Int.max, "refused": Int.max, "unknown": Int.max]
        #expect(try read(remainder(with: overflowing)) == nil)
    }

    @Test func `what somebody got, or an operator wants whole, is no duplicate`() {
        var remainder = Remainder(of: Remainder.File(inode: 1, byteCount: 17, modifiedAt: 3), droppedAt: Self.noon)
        #expect(!remainder.isSentAnyway)
        remainder.origin = "done/2026-11-21/a.json"
        #expect(remainder.isSentAnyway)
        let progress = JournalProgress(remaining: IndexRuns(2..<9))
        remainder.sent = Remainder.Sent(id: JobID(bits: 1), ref: "r", count: 9, progress: progress)
        #expect(!remainder.isSentAnyway)
        remainder.sent?.progress.tally.add(Self.refused, count: 1)
        #expect(!remainder.isSentAnyway)
        remainder.sent?.isWanted = true
        #expect(remainder.isSentAnyway)
        remainder.sent?.isWanted = false
        remainder.sent?.progress.tally.add(.unknown, count: 1)
        #expect(remainder.isSentAnyway)
    }

    // MARK: Trying again

    private func plan(_ text: String, unknown: Bool = false) throws -> RetryPlan {
        var parser = JSON.Parser()
        return try RetryPlan(try parser.read(text).root, includingUnknown: unknown)
    }

    private func result(_ counts: String, _ indexes: String) -> String {
        #"{"v":1,"job":"a%25.json","id":"\#(JobID(bits: 5))","ref":"r","state":"failed","#
            + #""counts":{"notifications":10,\#(counts)},"indexes":{\#(indexes)}}"#
    }

    private static let counts = #""accepted":3,"rejected":2,"expired":1,"unsent":3,"unknown":1"#
    private static let indexes = #""rejected":[[0,1]],"expired":[[5,5]],"unsent":[[6,8]],"unknown":[[9,9]]"#

    @Test(arguments: [(false, [6..<9]), (true, [6..<10])])
    func `what is unsent is left, and what is in doubt if it is asked for`(unknown: Bool, left: [Range<Int>]) throws {
        guard case .rest(let name, let sent) = try plan(result(Self.counts, Self.indexes), unknown: unknown) else {
            Issue.record("nothing is left")
            return
        }
        #expect(name.escaped == "a%25.json" && sent.id == JobID(bits: 5) && sent.ref == "r" && sent.count == 10)
        #expect(sent.progress.remaining.runs == left)
        #expect(sent.progress.tally.accepted == 3 && sent.progress.tally.rejected == 2)
        #expect(sent.progress[.rejected].runs == [0..<2] && sent.progress[.unsent].isEmpty)
    }

    @Test func `a job of which nothing was ever sent is tried again whole`() throws {
        let nothing = #""accepted":0,"rejected":0,"expired":0,"unsent":0,"unknown":0"#
        #expect(try plan(result(nothing, "")) == .whole(try #require(FileName("a%.json"))))
    }

    @Test(arguments: [("duplicate", "duplicates a job"), ("expired", "expired before")])
    func `what would end so again, or is to, is not tried again`(code: String, message: String) {
        let nothing = #""accepted":0,"rejected":0,"expired":0,"unsent":0,"unknown":0"#
        let text = result(nothing, "").replacing(#""state""#, with: "\"code\":\"\(code)\",\"state\"")
        let fault = #expect(throws: ControlFault.self) { _ = try plan(text) }
        #expect(fault?.message.contains(message) == true && fault?.hint?.contains("--whole") == true)
    }

    @Test(arguments: [
        (
            #""accepted":9,"rejected":0,"expired":1,"unsent":0,"unknown":0"#, #""expired":[[5,5]]"#,
            "no notifications are left"
        ),
        (
            #""accepted":9,"rejected":0,"expired":0,"unsent":0,"unknown":1"#, #""unknown":[[5,5]]"#,
            "no notifications are left"
        ),
        (#""accepted":9,"rejected":0,"expired":0,"unsent":2,"unknown":0"#, #""unsent":[[5,5]]"#, "does not list"),
        (#""accepted":9,"rejected":0,"expired":0,"unsent":1"#, #""unsent":[[5,5]]"#, "does not list"),
    ])
    func `nothing is sent of what is over, or of what cannot be`(counts: String, indexes: String, message: String) {
        let fault = #expect(throws: ControlFault.self) { _ = try plan(result(counts, indexes)) }
        #expect(fault?.message.contains(message) == true && fault?.hint?.contains("--whole") == true)
    }

    @Test(arguments: [
        ("notifications", "10"), ("accepted", "3"), ("rejected", "2"), ("expired", "1"), ("unsent", "3"),
        ("unknown", "1"),
    ])
    func `a count that no job has makes a result file say nothing`(word: String, good: String) throws {
        let text = result(Self.counts, Self.indexes)
        #expect(text.contains("\"\(word)\":\(good)"))
        for bad in Self.wrongCounts + [-1] {
            let changed = text.replacing("\"\(word)\":\(good)", with: "\"\(word)\":\(bad)")
            let fault = #expect(throws: ControlFault.self, "\(bad)") { _ = try plan(changed, unknown: true) }
            #expect(fault?.message.contains("does not list") == true, "\(bad)")
        }
    }

    @Test func `counts whose sum is no number make a result file say nothing`() {
        let most = Int.max
        let counts = "\"accepted\":\(most),\"rejected\":\(most),\"expired\":0,\"unsent\":0,\"unknown\":0"
        let fault = #expect(throws: ControlFault.self) { _ = try plan(result(counts, "")) }
        #expect(fault?.message.contains("does not list") == true)
    }
}
