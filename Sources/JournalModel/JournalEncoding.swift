import PushModel

/// The encoding of values in the journal: little-endian; lengths, counts and indices as LEB128.
extension [UInt8] {
    /// Appends a number, its lowest byte first.
    package mutating func appendInteger<Value: FixedWidthInteger>(_ value: Value) {
        append(addingCapacity: Value.bitWidth / 8) { output in
            for word in value.words {
                // In words, because a shift of a longer number takes several steps.
                var rest = word
                for _ in 0..<Swift.min(Value.bitWidth, UInt.bitWidth) / 8 {
                    output.append(UInt8(truncatingIfNeeded: rest))
                    rest >>= 8
                }
            }
        }
    }

    /// Replaces the four bytes at an offset by a number, its lowest byte first.
    package mutating func replaceInteger(_ value: UInt32, at offset: Int) {
        for index in 0..<4 { self[offset + index] = UInt8(truncatingIfNeeded: value >> UInt32(index * 8)) }
    }

    mutating func appendNumber(_ value: Int) {
        var rest = UInt64(bitPattern: Int64(value))
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    mutating func appendID(_ id: JobID) {
        appendInteger(id.bits)
    }

    mutating func appendPosition(_ position: JournalPosition) {
        appendInteger(position.epoch)
        appendNumber(position.offset)
    }

    mutating func appendFlag(_ flag: Bool) {
        append(flag ? 1 : 0)
    }

    mutating func appendBytes(_ bytes: [UInt8]) {
        appendNumber(bytes.count)
        append(contentsOf: bytes)
    }

    mutating func appendText(_ text: String) {
        appendNumber(text.utf8.count)
        append(contentsOf: text.utf8)
    }

    /// Appends each range as its distance from the end of the previous one, signed (zigzag), and its length.
    mutating func appendRanges(_ ranges: [Range<Int>]) {
        appendNumber(ranges.count)
        var end = 0
        for range in ranges {
            let distance = range.lowerBound - end
            appendNumber(distance << 1 ^ distance >> (Int.bitWidth - 1))
            appendNumber(range.count)
            end = range.upperBound
        }
    }

    mutating func appendTally(_ tally: Tally) {
        for number in tally.numbers { appendNumber(number) }
    }
}
