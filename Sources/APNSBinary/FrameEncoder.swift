package import APNSModel

/// Writes notifications of one batch as frames.
///
/// Everything but identifier, token and (if paired) payload is the same in all frames of a batch, so it is laid out once:
/// per notification three runs of bytes are copied. Command 2 puts the identifier first, so that a gateway which chokes on
/// a later item can still name the notification.
package struct FrameEncoder: Sendable {
    private let format: FrameFormat
    private let expiry: UInt32
    private let priority: UInt8

    /// Creates an encoder for batches with these attributes.
    ///
    /// An expiration later than 2106-02-07, the last that 32 bits can tell, is written as that.
    package init(format: FrameFormat, attributes: Attributes) {
        self.format = format
        self.expiry = UInt32(clamping: attributes.expiration.epochSeconds)
        self.priority = attributes.priority.rawValue
    }

    /// Appends one notification.
    ///
    /// - Precondition: Token and payload have at most 65,535 bytes; a `Batch` that was checked holds far shorter ones.
    package func append(
        token: ArraySlice<UInt8>, payload: ArraySlice<UInt8>, identifier: UInt32, to bytes: inout [UInt8]
    ) {
        appendHead(identifier, tokenByteCount: token.count, payloadByteCount: payload.count, to: &bytes)
        bytes.append(contentsOf: token)
        if format == .frame { bytes.append(2) }
        bytes.append(bigEndian: UInt16(payload.count))
        bytes.append(contentsOf: payload)
        if format == .frame { appendFrameTail(to: &bytes) }
    }

    /// Appends the flush probe: a notification that every gateway must refuse, with a token of no bytes.
    ///
    /// The refusal that names it proves that everything before it was accepted; it costs the connection.
    package static func appendFlushProbe(_ identifier: UInt32, format: FrameFormat, to bytes: inout [UInt8]) {
        FrameEncoder(format: format, attributes: Attributes())
            .append(token: [], payload: [], identifier: identifier, to: &bytes)
    }

    private func appendHead(_ identifier: UInt32, tokenByteCount: Int, payloadByteCount: Int, to bytes: inout [UInt8]) {
        bytes.append(format.rawValue)
        switch format {
        case .simple:
            break
        case .enhanced:
            bytes.append(bigEndian: identifier)
            bytes.append(bigEndian: expiry)
        case .frame:
            bytes.append(bigEndian: UInt32(24 + tokenByteCount + payloadByteCount))
            bytes.append(3)
            bytes.append(bigEndian: UInt16(4))
            bytes.append(bigEndian: identifier)
            bytes.append(1)
        }
        bytes.append(bigEndian: UInt16(tokenByteCount))
    }

    private func appendFrameTail(to bytes: inout [UInt8]) {
        bytes.append(4)
        bytes.append(bigEndian: UInt16(4))
        bytes.append(bigEndian: expiry)
        bytes.append(5)
        bytes.append(bigEndian: UInt16(1))
        bytes.append(priority)
    }
}
