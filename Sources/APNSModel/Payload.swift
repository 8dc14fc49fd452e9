/// The JSON object a device gets, as the bytes that go over the wire.
package struct Payload: Hashable, Sendable {
    /// UTF-8, minified, without a byte order mark.
    package let bytes: [UInt8]

    /// Creates a payload of these bytes, which the caller has checked to be a JSON object within the carrier's limit.
    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// What carries a payload to the gateway, and so limits its size.
package enum Carrier: Hashable, Sendable {
    /// Command 0 of the binary protocol.
    case simple
    /// Command 1 of the binary protocol.
    case enhanced
    /// Command 2 of the binary protocol.
    case frame
    /// HTTP/2.
    case http2

    /// The most bytes of payload it takes for this type of push (Apple's documented limits).
    package func payloadLimit(for type: PushType) -> Int {
        switch self {
        case .simple, .enhanced: 256
        case .frame: 2048
        case .http2: type == .voip ? 5120 : 4096
        }
    }
}
