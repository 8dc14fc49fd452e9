/// A port of the gateway, by what is spoken on it.
enum Port: String, Hashable, Sendable, CaseIterable {
    /// Apple's binary protocol.
    case binary
    /// Apple's API over HTTP/2.
    case http2
    /// FCM's HTTP v1 API.
    case fcm
    /// The token endpoint of Google's service accounts.
    case oauth

    /// The option of `pushspool simulate` that sets it.
    var option: String {
        switch self {
        case .binary: "--port"
        case .http2: "--http2-port"
        case .fcm: "--fcm-port"
        case .oauth: "--oauth-port"
        }
    }
}
