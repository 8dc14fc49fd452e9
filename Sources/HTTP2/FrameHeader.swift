/// The nine bytes before every frame's payload (RFC 9113 §4.1).
///
/// offset 0: payload length, 3 bytes · offset 3: type · offset 4: flags · offset 5: stream, 31 bits after a reserved one
struct FrameHeader: Hashable, Sendable {
    static let byteCount = 9
    /// The offset of the stream number.
    static let streamOffset = 5
    /// The maximum payload until a SETTINGS frame changes it. This side never changes its own.
    static let defaultPayloadLimit = 16_384

    let payloadByteCount: Int
    let rawType: UInt8
    let rawFlags: UInt8
    let stream: UInt32

    init(_ type: FrameType, _ flags: FrameFlags = [], stream: UInt32 = 0, payloadByteCount: Int) {
        self.payloadByteCount = payloadByteCount
        rawType = type.rawValue
        rawFlags = flags.rawValue
        self.stream = stream
    }

    /// Decodes the header at `offset`, or returns `nil` if more bytes are needed.
    init?(decoding bytes: Span<UInt8>, at offset: Int) {
        guard bytes.count - offset >= Self.byteCount else { return nil }
        payloadByteCount = Int(bytes[offset]) << 16 | Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2])
        rawType = bytes[offset + 3]
        rawFlags = bytes[offset + 4]
        stream = bytes.bigEndianUInt32(at: offset + 5) & 0x7fff_ffff
    }

    /// The frame type, or `nil` if it is unknown.
    var type: FrameType? { FrameType(rawValue: rawType) }

    var flags: FrameFlags { FrameFlags(rawValue: rawFlags) }
}

extension [UInt8] {
    /// Appends the nine bytes of a frame header. The payload must follow.
    mutating func append(_ header: FrameHeader) {
        append(UInt8(truncatingIfNeeded: header.payloadByteCount >> 16))
        append(UInt8(truncatingIfNeeded: header.payloadByteCount >> 8))
        append(UInt8(truncatingIfNeeded: header.payloadByteCount))
        append(header.rawType)
        append(header.rawFlags)
        append(bigEndian: header.stream)
    }
}
