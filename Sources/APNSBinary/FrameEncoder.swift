import APNSModel
package import PushModel

/// Encodes the notifications of one batch as frames.
///
/// The constant part of the frames is laid out once, and identifier and token are patched into it. With a shared
/// payload, a frame is then one run of bytes. In command 2 the identifier comes first, so that a gateway which fails on
/// a later item can still name the notification.
package struct FrameEncoder: Sendable {
    private let format: FrameFormat
    private let expiry: UInt32
    /// The last frame. If the payload has changed, only the part before the payload.
    private var layout: [UInt8] = []
    /// The lengths that `layout` was made for.
    private var tokenByteCount = -1
    private var payloadByteCount = -1
    /// The payload in `layout`; `nil` once a second payload was seen.
    private var sharedPayload: ArraySlice<UInt8>?
    /// The part of a frame after the payload.
    private var trailer: [UInt8] = []

    /// Creates an encoder for batches with these attributes.
    ///
    /// An expiration after 2106-02-07, the last date in 32 bits, is encoded as that date.
    package init(format: FrameFormat, attributes: Attributes) {
        self.format = format
        self.expiry = UInt32(clamping: attributes.expiration.epochSeconds)
        guard format == .frame else { return }
        trailer.append(item: 4, byteCount: 4)
        trailer.append(bigEndian: expiry)
        trailer.append(item: 5, byteCount: 1)
        trailer.append(attributes.priority.rawValue)
    }

    /// Appends one notification.
    ///
    /// - Precondition: Token and payload have at most 65,535 bytes; those of a checked `Batch` are much shorter.
    package mutating func append(
        token: ArraySlice<UInt8>, payload: ArraySlice<UInt8>, identifier: UInt32, to bytes: inout [UInt8]
    ) {
        if let shared = sharedPayload, !payload.span.isIdentical(to: shared.span) {
            (sharedPayload, tokenByteCount) = (nil, -1)
        }
        if token.count != tokenByteCount || payload.count != payloadByteCount {
            layOut(tokenByteCount: token.count, payload: payload)
        }
        patch(identifier, token.span)
        bytes.append(contentsOf: layout)
        guard sharedPayload == nil else { return }
        bytes.append(contentsOf: payload)
        if format == .frame { bytes.append(contentsOf: trailer) }
    }

    /// Appends the flush probe: a notification with an empty token, which every gateway must refuse.
    ///
    /// The refusal that names it proves that everything before it was accepted. It ends the connection.
    package static func appendFlushProbe(_ identifier: UInt32, format: FrameFormat, to bytes: inout [UInt8]) {
        var encoder = FrameEncoder(format: format, attributes: Attributes())
        encoder.append(token: [], payload: [], identifier: identifier, to: &bytes)
    }

    private mutating func layOut(tokenByteCount: Int, payload: ArraySlice<UInt8>) {
        if layout.isEmpty { sharedPayload = payload }
        (self.tokenByteCount, self.payloadByteCount) = (tokenByteCount, payload.count)
        layout = head(tokenByteCount: tokenByteCount, payloadByteCount: payload.count)
        layout.append(contentsOf: repeatElement(0, count: tokenByteCount))
        if format == .frame { layout.append(2) }
        layout.append(bigEndian: UInt16(payload.count))
        if let sharedPayload { layout += sharedPayload + trailer }
    }

    /// Returns the part of a frame before the token, with an identifier of 0.
    private func head(tokenByteCount: Int, payloadByteCount: Int) -> [UInt8] {
        var layout = [format.rawValue]
        switch format {
        case .simple:
            break
        case .enhanced:
            layout.append(bigEndian: UInt32(0))
            layout.append(bigEndian: expiry)
        case .frame:
            layout.append(bigEndian: UInt32(13 + tokenByteCount + payloadByteCount + trailer.count))
            layout.append(item: 3, byteCount: 4)
            layout.append(bigEndian: UInt32(0))
            layout.append(1)
        }
        layout.append(bigEndian: UInt16(tokenByteCount))
        return layout
    }

    /// Overwrites identifier and token of the previous frame.
    private mutating func patch(_ identifier: UInt32, _ token: Span<UInt8>) {
        let format = format
        var layout = layout.mutableSpan
        format.patch(identifier, token, into: &layout, at: 0)
    }
}

extension FrameFormat {
    /// The offsets at which `FrameEncoder` puts the identifier and the token.
    private var offsets: (identifier: Int?, token: Int) {
        switch self {
        case .simple: (nil, 3)
        case .enhanced: (1, 11)
        case .frame: (8, 15)
        }
    }

    /// Overwrites identifier and token of the frame at `frame`, whose token has the same length.
    @inline(__always)
    func patch(_ identifier: UInt32, _ token: Span<UInt8>, into bytes: inout MutableSpan<UInt8>, at frame: Int) {
        let offsets = offsets
        if let offset = offsets.identifier { Self.store(identifier, into: &bytes, at: frame + offset) }
        Self.store(token, into: &bytes, at: frame + offsets.token)
    }

    /// Copies a token; each eight bytes are one load and one store.
    @inline(__always)
    private static func store(_ token: Span<UInt8>, into output: inout MutableSpan<UInt8>, at offset: Int) {
        var place = 0
        while place + 8 <= token.count {
            let eight = token.extracting(place..<place + 8)
            precondition(offset >= 0 && offset + place <= output.count - 8)
            for byte in 0..<8 { output[offset + place + byte] = eight[byte] }
            place += 8
        }
        while place < token.count {
            output[offset + place] = token[place]
            place += 1
        }
    }

    /// Stores an identifier in big-endian order.
    @inline(__always)
    private static func store(_ identifier: UInt32, into output: inout MutableSpan<UInt8>, at offset: Int) {
        precondition(offset >= 0 && offset <= output.count - 4)
        for byte in 0..<4 {
            output[offset + byte] = UInt8(truncatingIfNeeded: identifier >> UInt32(24 - 8 * byte))
        }
    }
}

extension [UInt8] {
    /// Appends the head of an item of command 2.
    fileprivate mutating func append(item: UInt8, byteCount: UInt16) {
        append(item)
        append(bigEndian: byteCount)
    }
}
