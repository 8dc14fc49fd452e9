import APNSBinary
import PushModel
import TestSupport
import Testing

@testable import GatewaySimulator

/// What a ledger keeps and tells.
struct LedgerTests {
    /// A ledger of these notifications, all accepted on one connection.
    private func ledger(_ numbers: [Int], detail: Ledger.Detail, writesLines: Bool = false) throws -> Ledger {
        var ledger = Ledger(detail: detail, writesLines: writesLines)
        let bytes = Sample.frames(numbers)
        var offset = 0
        while let frame = try NotificationFrame(decoding: bytes.span.extracting(offset...)) {
            let arrival = Ledger.Arrival(
                connection: 1, sequence: ledger.arrivedCount + 1, time: WallTime(epochSeconds: 1_700_000_000),
                outcome: .accepted)
            ledger.note(frame, of: bytes.span.extracting(offset...), as: arrival)
            offset += frame.byteCount
        }
        return ledger
    }

    @Test func `everything is kept, byte for byte`() throws {
        let entry = try #require(try ledger([7], detail: .everything).entries.first)
        #expect(entry.token == Sample.token(7))
        #expect(entry.payloadText == #"{"aps":{"alert":"hi"}}"#)
        #expect(entry.identifier == 7 && entry.priority == 10 && entry.command == 2 && entry.sequence == 1)
        #expect(entry.epochNanoseconds == 1_700_000_000_000_000_000)
    }

    @Test func `duplicates are counted`() throws {
        let ledger = try ledger([1, 2, 1, 3, 1], detail: .everything)
        #expect(ledger.duplicates == [Sample.token(1): 3])
        #expect(ledger.acceptedTokens == [1, 2, 1, 3, 1].map(Sample.token))
    }

    @Test func `numbers tell exactly once and in order`() throws {
        let tally = try ledger(Array(0..<1000), detail: .numbered(limit: 1000)).tally
        #expect(tally.isExactlyOnce(1000) && !tally.isExactlyOnce(999) && tally.descentCount == 0)
    }

    @Test func `numbers tell what is missing, doubled, out of order and beyond the limit`() throws {
        let ledger = try ledger([0, 3, 1, 1, 900, 5], detail: .numbered(limit: 10))
        #expect(ledger.tally.missing(below: 5) == [2, 4])
        #expect(ledger.tally.repeatedCount == 1)
        #expect(ledger.tally.descentCount == 1)
        #expect(ledger.tally.beyondLimitCount == 1)
        #expect(ledger.entries.isEmpty && ledger.acceptedCount == 6)
    }

    @Test func `counts only keeps counts only`() throws {
        let ledger = try ledger([1, 2, 3], detail: .counts)
        #expect(ledger.acceptedCount == 3 && ledger.entries.isEmpty && ledger.tally.counts.isEmpty)
    }

    @Test func `lines are read back as they were written`() throws {
        var ledger = try ledger([1, 2], detail: .everything, writesLines: true)
        let lines = ledger.takeLines()
        #expect(try Ledger.entries(ofLines: lines) == Array(ledger.entries))
        #expect(ledger.takeLines().isEmpty)
        #expect(try Ledger.entries(ofLines: lines.dropLast()).count == 1)
    }

    @Test(arguments: [[], [0xFF, 0], Array("a\"\\\u{1}\n\u{7F}ż/".utf8)] as [[UInt8]])
    func `any payload survives a line`(payload: [UInt8]) throws {
        let entry = Ledger.Entry(
            connection: 1, sequence: 2, command: 1, identifier: .max, expiry: 0, priority: nil, token: [],
            payload: payload,
            outcome: .refused(status: 4), epochNanoseconds: 1_700_000_000_123_000_000)
        var line: [UInt8] = []
        line.appendLine(of: entry)
        #expect(try Ledger.entries(ofLines: line) == [entry])
    }

    @Test func `a line that no ledger wrote is named`() {
        #expect(throws: Ledger.LineFault(line: 1)) { try Ledger.entries(ofLines: Array("{\"at\":1}\n".utf8)) }
    }

    @Test func `no line traps`() throws {
        var ledger = try ledger([1], detail: .counts, writesLines: true)
        let good = ledger.takeLines()
        for seed in UInt64(0)..<500 {
            var random = SeededGenerator(seed: seed)
            var line = good
            for _ in 0..<3 { line[.random(in: line.indices, using: &random)] = .random(in: 0...255, using: &random) }
            do throws(Ledger.LineFault) {
                #expect(try Ledger.entries(ofLines: line).count <= 4, "seed \(seed)")
            } catch {
                #expect(error.line >= 1, "seed \(seed)")
            }
        }
    }
}
