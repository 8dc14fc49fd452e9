/// Reads integers in network byte order.
extension Span where Element == UInt8 {
    func bigEndianUInt16(at offset: Int) -> UInt16 {
        UInt16(self[offset]) << 8 | UInt16(self[offset + 1])
    }

    func bigEndianUInt32(at offset: Int) -> UInt32 {
        UInt32(self[offset]) << 24 | UInt32(self[offset + 1]) << 16 | UInt32(self[offset + 2]) << 8
            | UInt32(self[offset + 3])
    }

    func bigEndianUInt64(at offset: Int) -> UInt64 {
        UInt64(bigEndianUInt32(at: offset)) << 32 | UInt64(bigEndianUInt32(at: offset + 4))
    }
}

extension [UInt8] {
    mutating func append(bigEndian value: UInt16) {
        append(UInt8(truncatingIfNeeded: value >> 8))
        append(UInt8(truncatingIfNeeded: value))
    }

    mutating func append(bigEndian value: UInt32) {
        append(bigEndian: UInt16(truncatingIfNeeded: value >> 16))
        append(bigEndian: UInt16(truncatingIfNeeded: value))
    }

    /// Appends the bytes of a span.
    package mutating func append(copying span: Span<UInt8>) {
        append(addingCapacity: span.count) { $0.append(copying: span) }
    }
}

extension OutputSpan where Element == UInt8 {
    /// Appends the bytes in chunks of eight, with one bounds check of the source per chunk, then the remainder byte by
    /// byte.
    mutating func append(copying span: Span<UInt8>) {
        var place = 0
        while span.count - place >= 8 {
            let eight = span.extracting(place..<place &+ 8)
            for step in 0..<8 { append(eight[step]) }
            place &+= 8
        }
        while place < span.count {
            append(span[place])
            place &+= 1
        }
    }
}

extension MutableSpan where Element == UInt8 {
    /// Copies bytes to `offset`. Traps if they do not fit there.
    ///
    /// The one check before the loop lets the compiler vectorize it.
    package mutating func store(_ bytes: Span<UInt8>, at offset: Int) {
        precondition(UInt(bitPattern: offset) <= UInt(bitPattern: count) && count - offset >= bytes.count)
        for index in bytes.indices { self[offset &+ index] = bytes[index] }
    }

    mutating func store(_ value: UInt32, at offset: Int) {
        self[offset] = UInt8(truncatingIfNeeded: value >> 24)
        self[offset + 1] = UInt8(truncatingIfNeeded: value >> 16)
        self[offset + 2] = UInt8(truncatingIfNeeded: value >> 8)
        self[offset + 3] = UInt8(truncatingIfNeeded: value)
    }
}
