/// Writes the frames that this side sends, except the requests.
extension [UInt8] {
    /// Appends the client's connection preface (RFC 9113 §3.4). A SETTINGS frame must follow.
    mutating func appendPreface() {
        append(contentsOf: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    }

    mutating func appendSettings(_ values: [(id: SettingID, value: Int)]) {
        append(FrameHeader(.settings, payloadByteCount: 6 * values.count))
        for (id, value) in values {
            append(bigEndian: id.rawValue)
            append(bigEndian: UInt32(clamping: value))
        }
    }

    mutating func appendSettingsAcknowledgement() {
        append(FrameHeader(.settings, .acknowledgement, payloadByteCount: 0))
    }

    mutating func appendPing(_ payload: UInt64, _ flags: FrameFlags = []) {
        append(FrameHeader(.ping, flags, payloadByteCount: 8))
        append(bigEndian: UInt32(truncatingIfNeeded: payload >> 32))
        append(bigEndian: UInt32(truncatingIfNeeded: payload))
    }

    mutating func appendReset(_ stream: UInt32, _ code: ErrorCode) {
        append(FrameHeader(.resetStream, stream: stream, payloadByteCount: 4))
        append(bigEndian: code.rawValue)
    }

    /// Appends a GOAWAY frame. Its last stream is always 0, because the server opens no streams when push is disabled.
    mutating func appendGoAway(_ code: ErrorCode) {
        append(FrameHeader(.goAway, payloadByteCount: 8))
        append(bigEndian: UInt32(0))
        append(bigEndian: code.rawValue)
    }

    mutating func appendWindowUpdate(_ stream: UInt32, _ increment: Int) {
        append(FrameHeader(.windowUpdate, stream: stream, payloadByteCount: 4))
        append(bigEndian: UInt32(clamping: increment))
    }
}
