import JournalModel
package import PushModel

/// A record in the log of an app's gone addresses, `gone/<app>.gone` in the daemon's state.
///
/// offset 0: CRC-32C of the rest of the record. It starts from the checksum of the previous record (for the first record, from
/// that of the file's head), so that data written in another order is never taken for a record · 4: kind, 1 gone, 2 registered
/// again · 5: the address's length, 1 to 1,024, 2 bytes · 7: the kind of address, 0 for a device token · 8: the time, nanoseconds
/// since 1970, 8 bytes · 16: the address, and zeros up to a multiple of 8. Numbers are little-endian. A device token of 32 bytes
/// takes 48.
package struct GoneRecord: Hashable, Sendable {
    /// The event.
    package enum Kind: UInt8, Hashable, Sendable {
        /// The gateway reported the address gone.
        case gone = 1
        /// A job named the address as registered later.
        case registered = 2
    }

    /// The bytes at the start of a log.
    package static let head = Array("pushspool gone 1".utf8)
    /// The most bytes in a record.
    package static let byteLimit = byteCount(ofAddress: Address.Kind.allCases.map(\.byteLimit).max() ?? 0)
    /// All record lengths, and so all offsets in a log, are multiples of this.
    package static let unit = 8

    private static let headByteCount = 16

    /// The event.
    package let kind: Kind
    /// When the address became invalid, or when it was registered.
    package let time: WallTime
    /// The address, of one device.
    package let address: Address

    /// Creates a record.
    ///
    /// - Returns: `nil` if such an address cannot have this length, or may reach many devices.
    package init?(_ kind: Kind, _ address: Address, at time: WallTime) {
        guard (1...address.kind.byteLimit).contains(address.bytes.count), !address.kind.isShared else { return nil }
        (self.kind, self.time, self.address) = (kind, time, address)
    }

    /// Reads a record at a place known to have one, without checking its checksum.
    ///
    /// - Returns: `nil` if there is no valid record.
    package init?(_ bytes: [UInt8], at offset: Int = 0) {
        guard bytes.count - offset >= Self.headByteCount, let kind = Kind(rawValue: bytes[offset + 4]),
            let addressKind = Address.Kind(rawValue: bytes[offset + 7])
        else { return nil }
        let count = Int(bytes[offset + 5]) | Int(bytes[offset + 6]) << 8
        guard bytes.count - offset >= Self.byteCount(ofAddress: count) else { return nil }
        let time = (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[offset + 8 + $1]) << UInt64(8 * $1) }
        let address = bytes[(offset + Self.headByteCount)..<(offset + Self.headByteCount + count)]
        self.init(kind, Address(addressKind, address), at: WallTime(nanoseconds: Int64(bitPattern: time)))
    }

    /// The bytes of the record in a log.
    package var byteCount: Int { Self.byteCount(ofAddress: address.bytes.count) }

    /// Appends the record to the bytes of a log.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that are not written yet.
    ///   - sum: The checksum of the previous record.
    /// - Returns: The checksum of this record.
    package func append(to bytes: inout [UInt8], after sum: UInt32) -> UInt32 {
        let start = bytes.count
        bytes += [0, 0, 0, 0, kind.rawValue]
        bytes.appendInteger(UInt16(address.bytes.count))
        bytes.append(address.kind.rawValue)
        bytes.appendInteger(time.nanoseconds)
        bytes += address.bytes
        bytes += [UInt8](repeating: 0, count: start + byteCount - bytes.count)
        let own = Self.sum(of: bytes, from: start, byteCount: byteCount, after: sum)
        bytes.replaceInteger(own, at: start)
        return own
    }

    /// Reads the record at `offset`, which must follow a record with the checksum `sum`.
    ///
    /// - Returns: The record and its checksum; `nil` if there is no complete record in this sequence.
    package static func read(
        _ bytes: [UInt8], at offset: Int, after sum: UInt32
    ) -> (record: GoneRecord, sum: UInt32)? {
        guard let record = GoneRecord(bytes, at: offset) else { return nil }
        let own = Self.sum(of: bytes, from: offset, byteCount: record.byteCount, after: sum)
        let stored = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[offset + $1]) << UInt32(8 * $1) }
        guard own == stored else { return nil }
        return (record, own)
    }

    /// The checksum from which the first record starts.
    package static var headSum: UInt32 { CRC32C.checksum(head.span) }

    private static func sum(of bytes: [UInt8], from start: Int, byteCount: Int, after sum: UInt32) -> UInt32 {
        CRC32C.checksum(bytes.span.extracting((start + 4)..<(start + byteCount)), seed: sum)
    }

    /// Returns the bytes of a record of an address with this length.
    package static func byteCount(ofAddress count: Int) -> Int {
        (headByteCount + count + unit - 1) / unit * unit
    }
}
