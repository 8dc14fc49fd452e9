import JobFormat
import PushModel

/// A record has a valid checksum but invalid content: another version wrote it, or the checksum matched by chance.
struct JournalMalformed: Error {}

/// Reads the values of one record's payload. Never reads beyond its end, whatever its bytes are.
struct JournalDecoder {
    /// The limit for indices and sizes: a job of 2⁴⁰ notifications is far beyond every other limit.
    static let numberLimit = 1 << 40

    private let bytes: [UInt8]
    private var offset: Int
    private let end: Int

    init(_ bytes: [UInt8], _ range: Range<Int>) {
        (self.bytes, self.offset, self.end) = (bytes, range.lowerBound, range.upperBound)
    }

    /// Whether all bytes were read.
    var isAtEnd: Bool { offset == end }

    mutating func byte() throws(JournalMalformed) -> UInt8 {
        guard offset < end else { throw JournalMalformed() }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws(JournalMalformed) -> Value {
        guard end - offset >= Value.bitWidth / 8 else { throw JournalMalformed() }
        var value: Value = 0
        for shift in stride(from: 0, to: Value.bitWidth, by: 8) {
            value |= Value(truncatingIfNeeded: bytes[offset]) << Value(shift)
            offset += 1
        }
        return value
    }

    private mutating func raw() throws(JournalMalformed) -> UInt64 {
        var (value, shift): (UInt64, UInt64) = (0, 0)
        while true {
            let next = try byte()
            guard shift < 63 || next < 2 else { throw JournalMalformed() }
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return value }
            shift += 7
        }
    }

    mutating func number() throws(JournalMalformed) -> Int {
        let value = try raw()
        guard value <= UInt64(Self.numberLimit) else { throw JournalMalformed() }
        return Int(value)
    }

    /// Reads a number that may be negative: corrections can lower a count below zero.
    mutating func count() throws(JournalMalformed) -> Int {
        let value = Int(truncatingIfNeeded: try raw())
        guard value.magnitude <= 1 << 60 else { throw JournalMalformed() }
        return value
    }

    mutating func flag() throws(JournalMalformed) -> Bool {
        let value = try byte()
        guard value < 2 else { throw JournalMalformed() }
        return value == 1
    }

    mutating func data() throws(JournalMalformed) -> [UInt8] {
        let count = try number()
        guard count <= end - offset else { throw JournalMalformed() }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }

    mutating func text() throws(JournalMalformed) -> String {
        guard let text = String(validating: try data(), as: UTF8.self) else { throw JournalMalformed() }
        return text
    }

    mutating func name() throws(JournalMalformed) -> FileName {
        guard let name = FileName(bytes: try data()) else { throw JournalMalformed() }
        return name
    }

    mutating func time() throws(JournalMalformed) -> WallTime {
        WallTime(nanoseconds: try integer(Int64.self))
    }

    mutating func position() throws(JournalMalformed) -> JournalPosition {
        JournalPosition(epoch: try integer(UInt64.self), offset: try number())
    }

    mutating func job() throws(JournalMalformed) -> JobID {
        JobID(bits: try integer(UInt128.self))
    }

    mutating func ranges() throws(JournalMalformed) -> [Range<Int>] {
        let count = try number()
        guard count <= (end - offset) / 2 else { throw JournalMalformed() }
        var ranges: [Range<Int>] = []
        ranges.reserveCapacity(count)
        var last = 0
        for _ in 0..<count {
            let distance = Int(truncatingIfNeeded: try raw())
            let (start, overflow) = last.addingReportingOverflow(
                Int(bitPattern: UInt(bitPattern: distance) >> 1) ^ -(distance & 1))
            let length = try number()
            guard !overflow, start >= 0, start <= Self.numberLimit, length <= Self.numberLimit - start
            else { throw JournalMalformed() }
            last = start + length
            ranges.append(start..<last)
        }
        return ranges
    }

    mutating func tally() throws(JournalMalformed) -> Tally {
        var numbers: [Int] = []
        for _ in 0..<Tally.numberCount { numbers.append(try count()) }
        return Tally(numbers: numbers)
    }
}
