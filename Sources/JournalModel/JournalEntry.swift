/// The position of a record, and the seed for checking it.
struct JournalPlace: Hashable, Sendable {
    let position: JournalPosition
    /// The seed of its checksum.
    let seed: UInt32
    /// The bytes of the record in the file, including head and padding.
    var byteCount = 0
}

/// A record and its place.
package struct JournalEntry {
    /// The bytes before a payload: checksum, length, type, flags, two zeros.
    static let headByteCount = 12
    /// The length of the shortest records, `end` and `begun`.
    static let shortestByteCount = 16

    /// The record.
    package let record: JournalRecord
    /// Whether the record repeats known state, to carry a job forward.
    let isCarried: Bool
    let place: JournalPlace

    var position: JournalPosition { place.position }
    var byteCount: Int { place.byteCount }

    /// Returns the checksum seed of a region. A record of another epoch does not match it.
    static func seed(epoch: UInt64) -> UInt32 {
        var bytes: [UInt8] = []
        bytes.appendInteger(epoch)
        return CRC32C.checksum(bytes.span)
    }

    /// Returns the checksum seed after a BEGUN. A record that an earlier daemon wrote after that place does not match it.
    static func seed(_ seed: UInt32, salt: UInt32) -> UInt32 {
        var bytes: [UInt8] = []
        bytes.appendInteger(salt)
        return CRC32C.checksum(bytes.span, seed: seed)
    }

    init(record: JournalRecord, isCarried: Bool, place: JournalPlace) {
        (self.record, self.isCarried, self.place) = (record, isCarried, place)
    }

    /// Appends a record without its checksum.
    static func append(_ record: JournalRecord, isCarried: Bool, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.appendInteger(UInt64(0))
        bytes.appendInteger(UInt32(record.type) | (isCarried ? 1 << 8 : 0))
        record.writePayload(to: &bytes)
        bytes.replaceInteger(UInt32(truncatingIfNeeded: bytes.count - start - headByteCount), at: start + 4)
        while (bytes.count - start) % 8 != 0 { bytes.append(0) }
    }

    /// Fills in the checksum of a record that `append` encoded.
    static func seal(_ bytes: inout [UInt8], seed: UInt32) {
        let checksum = CRC32C.checksum(bytes.span.extracting(droppingFirst: 4), seed: seed)
        bytes.replaceInteger(checksum, at: 0)
    }

    /// Reads the record at `offset`.
    ///
    /// - Returns: `nil` if there is no record of this epoch and run there.
    init?(_ bytes: [UInt8], at offset: Int, seed: UInt32, position: JournalPosition) {
        guard bytes.count - offset >= Self.shortestByteCount else { return nil }
        var head = JournalDecoder(bytes, offset..<offset + Self.headByteCount)
        do throws(JournalMalformed) {
            let (checksum, length) = (try head.integer(UInt32.self), Int(try head.integer(UInt32.self)))
            let (type, flags, zero) = (try head.byte(), try head.byte(), try head.integer(UInt16.self))
            guard length <= bytes.count - offset - Self.headByteCount, flags < 2, zero == 0 else { return nil }
            let byteCount = (Self.headByteCount + length + 7) & ~7
            guard byteCount <= bytes.count - offset else { return nil }
            let checked = bytes.span.extracting(offset + 4..<offset + byteCount)
            guard CRC32C.checksum(checked, seed: seed) == checksum else { return nil }
            let start = offset + Self.headByteCount
            var payload = JournalDecoder(bytes, start..<start + length)
            self.record = try JournalRecord(type: type, from: &payload)
            self.isCarried = flags == 1
            self.place = JournalPlace(position: position, seed: seed, byteCount: byteCount)
        } catch {
            return nil
        }
    }
}
