/// The layout of a notification within bytes that a gateway has read. Holds offsets into them, not the bytes.
///
/// Command 0: `00`, token length (2), token, payload length (2), payload.
/// Command 1: `01`, identifier (4), expiry (4), then as command 0.
/// Command 2: `02`, frame length (4), items of id (1), length (2) and value, in any order.
package struct NotificationFrame: Hashable, Sendable {
    /// The maximum length that a frame of command 2 may declare. The largest valid one is 2176 bytes long.
    package static let maximumItemByteCount: UInt32 = 16_384

    /// Its format.
    package let format: FrameFormat
    /// The identifier that the sender gave it, if any.
    package var identifier: UInt32?
    /// Seconds since 1970; 0 for a single attempt; `nil` if the frame has none.
    package var expiry: UInt32?
    /// 10 or 5, or any other value that the sender wrote; `nil` if the frame has none, which means 10.
    package var priority: UInt8?
    /// The range of the token; empty if it is missing or has no bytes.
    package var token: Range<Int>
    /// The range of the payload; empty if it is missing or has no bytes.
    package var payload: Range<Int>
    /// The length of the whole notification, in bytes. The next one starts after it.
    package let byteCount: Int

    /// Decodes the notification at the start of `bytes`.
    ///
    /// - Returns: `nil` when more bytes are needed.
    /// - Throws: `DecodingError`. The rest of the stream cannot be decoded, so the gateway must close the connection.
    package init?(decoding bytes: Span<UInt8>) throws(DecodingError) {
        guard !bytes.isEmpty else { return nil }
        guard let format = FrameFormat(rawValue: bytes[0]) else { throw .unexpectedCommand(bytes[0]) }
        let decoded: NotificationFrame? =
            switch format {
            case .simple: Self.legacy(bytes, format: .simple, headerByteCount: 1)
            case .enhanced: Self.legacy(bytes, format: .enhanced, headerByteCount: 9)
            case .frame: try Self.items(bytes)
            }
        guard let decoded else { return nil }
        self = decoded
    }

    private init(format: FrameFormat, byteCount: Int) {
        self.format = format
        self.byteCount = byteCount
        self.token = byteCount..<byteCount
        self.payload = byteCount..<byteCount
    }

    private static func legacy(
        _ bytes: Span<UInt8>, format: FrameFormat, headerByteCount: Int
    ) -> NotificationFrame? {
        let tokenStart = headerByteCount + 2
        guard bytes.count >= tokenStart else { return nil }
        let tokenEnd = tokenStart + Int(bytes.bigEndianUInt16(at: headerByteCount))
        guard bytes.count >= tokenEnd + 2 else { return nil }
        let payloadEnd = tokenEnd + 2 + Int(bytes.bigEndianUInt16(at: tokenEnd))
        guard bytes.count >= payloadEnd else { return nil }
        var frame = NotificationFrame(format: format, byteCount: payloadEnd)
        if format == .enhanced {
            frame.identifier = bytes.bigEndianUInt32(at: 1)
            frame.expiry = bytes.bigEndianUInt32(at: 5)
        }
        frame.token = tokenStart..<tokenEnd
        frame.payload = tokenEnd + 2..<payloadEnd
        return frame
    }

    private static func items(_ bytes: Span<UInt8>) throws(DecodingError) -> NotificationFrame? {
        guard bytes.count >= 5 else { return nil }
        let length = bytes.bigEndianUInt32(at: 1)
        guard length <= maximumItemByteCount else { throw .frameTooLong(length) }
        let end = 5 + Int(length)
        guard bytes.count >= end else { return nil }
        var frame = NotificationFrame(format: .frame, byteCount: end)
        var seen: UInt8 = 0
        var offset = 5
        while offset < end {
            guard offset + 3 <= end else { throw .malformedItems(identifier: frame.identifier) }
            let start = offset + 3
            let range = start..<start + Int(bytes.bigEndianUInt16(at: offset + 1))
            guard range.upperBound <= end, frame.read(bytes[offset], at: range, of: bytes, seen: &seen) else {
                throw .malformedItems(identifier: frame.identifier)
            }
            offset = range.upperBound
        }
        guard seen & 0b110 == 0b110 else { throw .malformedItems(identifier: frame.identifier) }
        return frame
    }

    /// Reads one item. Returns whether it has the right length and is the first of its kind. Unknown kinds are ignored.
    private mutating func read(_ item: UInt8, at range: Range<Int>, of bytes: Span<UInt8>, seen: inout UInt8) -> Bool {
        guard (1...5).contains(item) else { return true }
        guard seen & (1 << item) == 0 else { return false }
        seen |= 1 << item
        switch item {
        case 1:
            token = range
            return true
        case 2:
            payload = range
            return true
        case 3 where range.count == 4:
            identifier = bytes.bigEndianUInt32(at: range.lowerBound)
            return true
        case 4 where range.count == 4:
            expiry = bytes.bigEndianUInt32(at: range.lowerBound)
            return true
        case 5 where range.count == 1:
            priority = bytes[range.lowerBound]
            return true
        default:
            return false
        }
    }
}
