package import APNSModel

/// The protocol that carries a payload to the gateway and limits its size.
package enum Carrier: CaseIterable, Hashable, Sendable {
    /// Command 0 of the binary protocol.
    case simple
    /// Command 1 of the binary protocol.
    case enhanced
    /// Command 2 of the binary protocol.
    case frame
    /// HTTP/2.
    case http2

    /// Returns the maximum payload in bytes for this push type (Apple's documented limits).
    package func payloadLimit(for type: PushType) -> Int {
        switch self {
        case .simple, .enhanced: 256
        case .frame: 2048
        case .http2: type == .voip ? 5120 : 4096
        }
    }

    /// Returns the maximum payload in bytes for a notification with these attributes.
    package func payloadLimit(for attributes: Attributes) -> Int {
        attributes.addressKind == .channel ? 5120 : payloadLimit(for: attributes.pushType)
    }
}
