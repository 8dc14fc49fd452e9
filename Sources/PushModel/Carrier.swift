package import APNSModel

/// The protocol that carries a payload to the gateway and limits its size.
package enum Carrier: CaseIterable, Hashable, Sendable {
    /// Command 0 of the binary protocol.
    case simple
    /// Command 1 of the binary protocol.
    case enhanced
    /// Command 2 of the binary protocol.
    case frame
    /// Apple's HTTP/2.
    case http2
    /// Google's HTTP v1 API. Its limit is not on the payload but on the text in it, which `JobFormat` counts.
    case fcm

    /// Returns the maximum payload in bytes for this push type (documented limits).
    package func payloadLimit(for type: PushType) -> Int {
        switch self {
        case .simple, .enhanced: 256
        case .frame: 2048
        case .http2: type == .voip ? 5120 : 4096
        case .fcm: 4096
        }
    }

    /// Returns the maximum payload in bytes for a notification with these attributes.
    package func payloadLimit(for attributes: Attributes) -> Int {
        attributes.addressKind == .channel ? 5120 : payloadLimit(for: attributes.pushType)
    }
}
