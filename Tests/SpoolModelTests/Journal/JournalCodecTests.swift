import JobFormat
import PushModel
import Testing

@testable import JournalModel
@testable import SpoolModel

struct JournalCodecTests {
    private static let id = JournalSample.id(9)

    static var outcomes: [Outcome] {
        let bare = Refusal(status: nil, reason: "Later", verdict: .later)
        return [.accepted, JournalSample.gone, .rejected(bare), .expired, .unsent(bare), .unknown]
    }

    static var records: [JournalRecord] {
        var final = JournalFinal(
            Conclusion(tally: Tally(), fault: .changed), day: "2026-11-21", name: JournalSample.name("a~2.json"),
            finishedAt: JournalSample.noon)
        final.why = "it changed/was cut"
        var duplicate = JournalFinal(
            Conclusion(tally: Tally(), fault: .duplicate), day: "2026-11-21", name: JournalSample.name("b.json"),
            finishedAt: JournalSample.noon)
        duplicate.earlier = SentTwin(id: JournalSample.id(3), endedAt: JournalSample.noon, isOfSameFile: true)
        let ranges = [5..<9, 0..<2, 40..<40, 99_999_999..<100_000_000]
        var tally = Tally()
        for (count, outcome) in outcomes.enumerated() { tally.add(outcome, count: count - 1) }
        let feedback = JournalPublication(
            app: "weather", feedback: JournalSample.name("20261121.jsonl"),
            through: JournalPosition(epoch: 1 << 50, offset: 1 << 20))
        let checkpoint = JournalCheckpoint(
            recordCount: 3, isClaimed: true, isFinalTold: false, isDamaged: true, tally: tally)
        var (ended, later) = (checkpoint, feedback)
        (ended.finalOrigin, ended.isAbridged) = (feedback.through, true)
        later.since = JournalPosition(epoch: 1 << 50, offset: 32)
        let subject = JournalSample.subject("x.yaml")
        var refusal = Refusal(status: 400, reason: "INVALID_ARGUMENT", verdict: .message)
        refusal.detail = "Invalid value at 'message.data[0].value'"
        let told = JournalResult(.rejected(refusal), ranges, at: JournalSample.noon)
        let scattered = JournalResult(.expired, (0..<300).map { $0 * 3..<$0 * 3 + 1 }, at: JournalSample.noon)
        return [
            .header(JournalSample.header(1)), .header(JournalSample.header(2, content: .checks([1, .max, 0]))),
            .claimed(id), .intent(id, ranges), .reopened(id, []), .final(id, final), .published(feedback), .cleaned(id),
            .final(id, duplicate),
            .runs(id, JournalRuns(kind: .intended, ranges: ranges)), .checkpoint(id, checkpoint), .start(subject),
            .ended(subject), .suspect(subject, JournalSuspicion(deathCount: 2, wasAlone: true)), .stopped, .end,
            .begun(salt: 0xDEAD_BEEF), .distrusted, .synced(JournalSyncMark(salt: 7, through: 4096)), .result(id, told),
            .untold(id, JournalUntold(origin: JournalPosition(epoch: 9, offset: 40), result: scattered)),
            .runs(id, JournalRuns(kind: .rejected, ranges: scattered.ranges)), .checkpoint(id, ended),
            .published(later),
        ]
            + outcomes.map {
                .result(id, JournalResult($0, ranges, at: JournalSample.noon, isCorrection: $0 == .expired))
            }
    }

    static func encoded(_ record: JournalRecord, seed: UInt32 = 1) -> [UInt8] {
        var bytes: [UInt8] = []
        JournalEntry.append(record, isCarried: true, to: &bytes)
        JournalEntry.seal(&bytes, seed: seed)
        return bytes
    }

    private func decoded(_ bytes: [UInt8], seed: UInt32 = 1) -> JournalEntry? {
        JournalEntry(bytes, at: 0, seed: seed, position: JournalPosition(epoch: 1, offset: 32))
    }

    @Test(arguments: records) func `what is written is read`(_ record: JournalRecord) {
        let bytes = Self.encoded(record)
        let entry = decoded(bytes)
        #expect(entry?.record == record && entry?.isCarried == true && entry?.byteCount == bytes.count)
        #expect(bytes.count % 8 == 0)
    }

    @Test(arguments: records) func `no bit of a record can change`(_ record: JournalRecord) {
        let bytes = Self.encoded(record)
        for index in bytes.indices {
            var spoilt = bytes
            spoilt[index] ^= 1 << UInt8(index % 8)
            #expect(decoded(spoilt) == nil, "byte \(index)")
        }
    }

    @Test(arguments: records) func `a cut record is none`(_ record: JournalRecord) {
        let bytes = Self.encoded(record)
        for count in bytes.indices { #expect(decoded(Array(bytes.prefix(count))) == nil, "\(count) bytes") }
    }

    @Test func `a record of another epoch is none`() {
        let seeds = (UInt64(1)...300).map(JournalEntry.seed)
        #expect(Set(seeds).count == 300)
        let bytes = Self.encoded(.stopped, seed: seeds[0])
        #expect(seeds.dropFirst().allSatisfy { decoded(bytes, seed: $0) == nil })
    }

    @Test func `the checksum is the standard one`() {
        #expect(CRC32C.checksum(Array("123456789".utf8).span) == 0xE306_9283)
        #expect(CRC32C.checksum([UInt8](repeating: 0, count: 32).span) == 0x8A91_36AA)
        let bytes = Array(UInt8(0)..<200)
        for cut in bytes.indices {
            let first = CRC32C.checksum(bytes.span.extracting(0..<cut))
            let both = CRC32C.checksum(bytes.span.extracting(cut..<bytes.count), seed: first)
            #expect(both == CRC32C.checksum(bytes.span), "cut at \(cut)")
        }
    }

    @Test func `right checksums over wrong payloads are no records`() {
        for type in UInt8(0)...20 {
            for filler in [UInt8(0), 0x7F, 0xFF] {
                var bytes = [UInt8](repeating: filler, count: 88)
                bytes.replaceSubrange(0..<12, with: [0, 0, 0, 0, 76, 0, 0, 0, type, 0, 0, 0])
                JournalEntry.seal(&bytes, seed: 1)
                #expect(decoded(bytes) == nil, "type \(type), filled with \(filler)")
            }
        }
    }

    @Test func `a label is read back, and no changed one`() {
        let label = JournalLabel(layout: JournalFile.layout, node: "mail-1")
        // It is one sector of its page: what is behind it does not matter.
        let page = label.bytes + [UInt8](repeating: 7, count: JournalLayout.labelByteCount - 512)
        #expect(label.bytes.count == 512 && JournalLabel(bytes: page) == label)
        for index in 0..<512 {
            var spoilt = page
            spoilt[index] ^= 4
            #expect(JournalLabel(bytes: spoilt) == nil, "byte \(index)")
        }
    }

    @Test func `long words are cut between characters`() {
        let place = JournalPlace(position: JournalPosition(epoch: 1, offset: 32), seed: 0)
        var final = JournalSample.final(JournalJob(JournalSample.header(1), at: place))
        final.why = String(repeating: "ä", count: 400)
        #expect(final.why == String(repeating: "ä", count: 256))
        #expect("a👩‍👩‍👧".prefix(utf8Count: 6) == "a👩")
    }
}
