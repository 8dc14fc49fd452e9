import JournalModel
import PushModel
import TestSupport
import Testing

/// The mark that a node of a cluster renews in its journal.
struct JournalBeatTests {
    private let beat = JournalBeat(number: 41, at: WallTime(epochSeconds: 1_795_262_400), lease: .milliseconds(2500))

    @Test func `a mark is read as it was written`() {
        for end in JournalBeat.End.allCases.map(Optional.some) + [nil] {
            let beat = JournalBeat(number: 41, at: beat.at, lease: .milliseconds(2500), end: end)
            #expect(JournalBeat(bytes: beat.bytes) == beat && beat.bytes.count == JournalBeat.byteCount)
        }
    }

    @Test func `a mark with any bit changed is none, nor are zeros or a part`() {
        for index in 0..<JournalBeat.byteCount * 8 {
            var bytes = beat.bytes
            bytes[index / 8] ^= 1 << UInt8(index % 8)
            #expect(JournalBeat(bytes: bytes) == nil, "bit \(index)")
        }
        #expect(JournalBeat(bytes: [UInt8](repeating: 0, count: JournalBeat.byteCount)) == nil)
        #expect(JournalBeat(bytes: Array(beat.bytes.dropLast())) == nil)
    }

    @Test func `a mark is in the journal's first page, and leaves the label alone`() {
        let label = JournalLabel(layout: JournalLayout(byteCount: 8 << 20), node: "a")
        #expect(JournalBeat.offset >= Int64(label.bytes.count))
        #expect(JournalBeat.offset + Int64(JournalBeat.byteCount) <= Int64(JournalLayout.labelByteCount))
    }

    @Test(arguments: [
        (10, 1, 10), (9, 2, 1), (9, 4, 0),
    ])
    func `two nodes' suspicions against a file are not added up`(one: Int, other: Int, _: Int) {
        let combined = JournalSuspicion(deathCount: one, wasAlone: false)
            .combined(with: JournalSuspicion(deathCount: other, wasAlone: true))
        #expect(combined == JournalSuspicion(deathCount: max(one, other), wasAlone: true))
        #expect(combined.combined(with: combined) == combined && combined.combined(with: nil) == combined)
    }
}
