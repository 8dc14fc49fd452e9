import PushModel
import TestSupport
import Testing

@testable import JobFormat
@testable import JournalModel
@testable import SpoolModel

struct RefRecordTests {
    private static let refs = [
        "campaign-17", "r", "a b%\n\u{0}\u{7F}é", String(repeating: "%", count: 255), "%25", "\"quoted\"",
    ]

    private static let file: RefRecord = RefRecord(
        FileSign(sum: (0..<32).map { UInt8($0 * 8) }, inode: .max, bornAt: -5), id: JobID(bits: 77), endedAt: noon)

    private func record(_ ref: String) -> RefRecord {
        RefRecord(ref, id: JobID(bits: 77), endedAt: noon + .milliseconds(5))
    }

    private func read(_ line: [UInt8]) -> RefRecord? { RefRecord(line: line.dropLast()) }

    @Test func `a line is what the manual says`() {
        let line = String(decoding: record("a b%").line, as: UTF8.self)
        #expect(line.dropFirst(8) == " 2026-11-21T12:00:00.005Z 0000000000000000000000002D a b%25\n")
        let checksum = CRC32C.checksum(Array(line.utf8.dropFirst(9).dropLast()).span)
        #expect(UInt32(line.prefix(8), radix: 16) == checksum)
    }

    @Test(arguments: refs) func `what is written is read, and is one line`(ref: String) {
        let line = record(ref).line
        #expect(read(line) == record(ref) && line.count { $0 == 10 } == 1 && line.count <= RefRecord.lineByteLimit + 1)
    }

    @Test func `different refs are different, however alike they look`() {
        let keys = (Self.refs + ["caf\u{E9}", "cafe\u{301}", "campaign-1", "R"]).map { RefRecord.key(of: .ref($0)) }
        #expect(Set(keys).count == Self.refs.count + 4)
    }

    @Test func `a file stands there by its sum and its inode, and is known by the first`() {
        let line = Self.file.line
        let digits = (0..<32).map { ($0 < 2 ? "0" : "") + String($0 * 8, radix: 16, uppercase: true) }
        let sum = digits.joined()
        let text = String(decoding: line.dropFirst(61), as: UTF8.self)
        #expect(text == "%=\(sum) 18446744073709551615 -5\n")
        let read = RefRecord(line: line.dropLast())
        #expect(read == Self.file && read?.job.isOfSameFile == true && read?.key == Array("%=\(sum)".utf8))
        #expect(RefRecord.key(of: .ref("%=\(sum)")) != Self.file.key)
    }

    @Test(arguments: refs + [nil]) func `no part of a line is one, nor one with another bit`(ref: String?) {
        let line = (ref.map(record) ?? Self.file).line.dropLast()
        for count in 0..<line.count { #expect(RefRecord(line: line.prefix(count)) == nil, "\(count) bytes") }
        for start in 1..<line.count { #expect(RefRecord(line: line.dropFirst(start)) == nil, "from \(start)") }
        for index in line.indices {
            var spoilt = line
            spoilt[index] ^= 1 << UInt8(index % 8)
            #expect(RefRecord(line: spoilt) == nil, "byte \(index)")
        }
    }

    @Test func `a file is taken apart in whatever pieces it comes, and what is no line is passed over`() {
        let (first, second, third) = (record("one").line, record("two").line, record("three").line)
        let torn = Array(record("torn").line.dropLast(3)) + [10]
        let zeros = [UInt8](repeating: 0, count: 5_000)
        var file = first + torn
        file += second + zeros
        file += [10] + third
        file += record("cut").line.dropLast()
        for size in [1, 2, 7, 60, 100, 4_096, file.count] {
            var lines = RefLines()
            var found: [String: Int64] = [:]
            var rest = file[...]
            while !rest.isEmpty {
                lines.read(Array(rest.prefix(size))) { found[String(decoding: $0, as: UTF8.self)] = $1 }
                rest = rest.dropFirst(size)
            }
            let last = first.count + torn.count + second.count + zeros.count + 1
            #expect(found == ["one": 0, "two": Int64(first.count + torn.count), "three": Int64(last)], "\(size)")
        }
    }
}

struct RefIndexTests {
    private let one = RefRecord.key(of: .ref("one"))
    private let two = RefRecord.key(of: .ref("two"))

    @Test func `a ref may be on several days, the last first, and in its last place of a day`() {
        var index = RefIndex()
        index.note(one, on: "2026-11-20", at: 5)
        index.note(two, on: "2026-11-20", at: 70)
        index.note(one, on: "2026-11-21", at: 0)
        index.note(one, on: "2026-11-20", at: 140)
        #expect(index.places(of: one).map(\.day) == ["2026-11-21", "2026-11-20"] && index.count == 3)
        #expect(index.places(of: one).map(\.offset) == [0, 140] && index.places(of: two).map(\.offset) == [70])
        index.remove("2026-11-20")
        #expect(index.places(of: one).map(\.offset) == [0] && index.places(of: two).isEmpty)
    }

    @Test(arguments: [
        ("2026-11-20", Duration.seconds(86_400), true), ("2026-11-20", .seconds(86_401 * 2), false),
        ("2026-11-21", .zero, true), ("2026-11-21", .milliseconds(1), false), ("2026-11-22", .zero, false),
        ("tokens", .zero, false),
    ])
    func `a day is over when all of it is longer ago than refs count`(day: String, window: Duration, isOver: Bool) {
        // Midnight of the 22nd.
        #expect(RefIndex.isOver(day, after: window, at: noon + .seconds(43_200)) == isOver)
    }
}

struct RefTurnsTests {
    @Test func `files wait for the job that is under way, and are let go when it is over`() {
        var turns = RefTurns()
        turns.begin(.ref("r"))
        let waits = [turns.wait(name("a.json"), for: .ref("r")), turns.wait(name("b.json"), for: .ref("r"))]
        let other = turns.end(.ref("s"))
        #expect(waits == [true, true] && other.isEmpty && turns.isTaken(.ref("r")) && !turns.isTaken(.ref("s")))
        let released = turns.end(.ref("r"))
        #expect(released == [name("a.json"), name("b.json")] && !turns.isTaken(.ref("r")))
        let again = turns.end(.ref("r"))
        #expect(again.isEmpty)
    }

    @Test func `a job that passes from one hand to another is under way all the time`() {
        var turns = RefTurns()
        turns.begin(.ref("r"))
        turns.begin(.ref("r"))
        _ = turns.wait(name("a.json"), for: .ref("r"))
        let first = turns.end(.ref("r"))
        #expect(first.isEmpty && turns.isTaken(.ref("r")))
        let second = turns.end(.ref("r"))
        #expect(second == [name("a.json")] && !turns.isTaken(.ref("r")))
    }

    @Test func `no more wait than there is room for, and none twice`() {
        var turns = RefTurns(limit: 2)
        turns.begin(.ref("r"))
        let waits = ["a", "a", "b", "c", "a"].map { turns.wait(name($0 + ".json"), for: .ref("r")) }
        #expect(waits == [true, true, true, false, true])
        let unknown = turns.wait(name("d.json"), for: nil)
        let released = turns.release(.ref("r"))
        let later = turns.wait(name("d.json"), for: nil)
        #expect(!unknown && released.count == 2 && later)
    }
}
