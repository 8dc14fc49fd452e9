package import APNSModel

/// A record in the log of an app's tokens that are gone, `gone/<app>.gone` in the daemon's state.
///
/// offset 0: CRC-32C of what follows, which starts from that of the record before (of the first: from the file's head), so
/// that nothing that was written in another order is ever taken for a record · 4: kind, 1 gone, 2 registered again · 5: the
/// token's length, 1 to 100 · 6: zeros, 2 bytes · 8: the time, nanoseconds since 1970, 8 bytes · 16: the token, and zeros up to a
/// multiple of 8. Numbers are little-endian. A token of 32 bytes takes 48.
package struct GoneRecord: Hashable, Sendable {
    /// What happened to the token.
    package enum Kind: UInt8, Hashable, Sendable {
        /// The gateway has reported it gone.
        case gone = 1
        /// A job has named it as registered since.
        case registered = 2
    }

    /// What a log begins with.
    package static let head = Array("pushspool gone 1".utf8)
    /// How long a record is at most.
    package static let byteLimit = byteCount(ofToken: DeviceToken.maximumByteCount)
    /// What all lengths are multiples of, and so all places in a log.
    package static let unit = 8

    private static let headByteCount = 16

    /// What happened.
    package let kind: Kind
    /// Since when it has been gone, or when it was registered.
    package let time: WallTime
    /// The token's bytes.
    package let token: [UInt8]

    /// Creates a record.
    ///
    /// - Returns: `nil` when there is no token of that length.
    package init?(_ kind: Kind, _ token: ArraySlice<UInt8>, at time: WallTime) {
        guard (1...DeviceToken.maximumByteCount).contains(token.count) else { return nil }
        (self.kind, self.time, self.token) = (kind, time, Array(token))
    }

    /// Reads a record without its checksum: from a place that is known to have one.
    ///
    /// - Returns: `nil` when there is none.
    package init?(_ bytes: [UInt8], at offset: Int = 0) {
        guard bytes.count - offset >= Self.headByteCount, let kind = Kind(rawValue: bytes[offset + 4]) else {
            return nil
        }
        let count = Int(bytes[offset + 5])
        guard bytes.count - offset >= Self.byteCount(ofToken: count) else { return nil }
        let time = (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[offset + 8 + $1]) << UInt64(8 * $1) }
        let token = bytes[(offset + Self.headByteCount)..<(offset + Self.headByteCount + count)]
        self.init(kind, token, at: WallTime(nanoseconds: Int64(bitPattern: time)))
    }

    /// How long it is in a log.
    package var byteCount: Int { Self.byteCount(ofToken: token.count) }

    /// Appends it to the bytes of a log.
    ///
    /// - Parameters:
    ///   - bytes: What was appended before and is not written yet.
    ///   - sum: The checksum of the record before.
    /// - Returns: Its own checksum.
    package func append(to bytes: inout [UInt8], after sum: UInt32) -> UInt32 {
        let start = bytes.count
        bytes += [0, 0, 0, 0, kind.rawValue, UInt8(token.count), 0, 0]
        bytes.appendInteger(time.nanoseconds)
        bytes += token
        bytes += [UInt8](repeating: 0, count: start + byteCount - bytes.count)
        let own = Self.sum(of: bytes, from: start, byteCount: byteCount, after: sum)
        bytes.replaceInteger(own, at: start)
        return own
    }

    /// Reads the record at `offset`, which must follow the one of that checksum.
    ///
    /// - Returns: The record and its checksum; `nil` when the bytes there are no such record, or not all of it.
    package static func read(
        _ bytes: [UInt8], at offset: Int, after sum: UInt32
    ) -> (record: GoneRecord, sum: UInt32)? {
        guard let record = GoneRecord(bytes, at: offset) else { return nil }
        let own = Self.sum(of: bytes, from: offset, byteCount: record.byteCount, after: sum)
        let stored = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[offset + $1]) << UInt32(8 * $1) }
        guard own == stored else { return nil }
        return (record, own)
    }

    /// The checksum that the first record starts from.
    package static var headSum: UInt32 { CRC32C.checksum(head.span) }

    private static func sum(of bytes: [UInt8], from start: Int, byteCount: Int, after sum: UInt32) -> UInt32 {
        CRC32C.checksum(bytes.span.extracting((start + 4)..<(start + byteCount)), seed: sum)
    }

    private static func byteCount(ofToken count: Int) -> Int {
        (headByteCount + count + unit - 1) / unit * unit
    }
}
