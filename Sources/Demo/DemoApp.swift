/// The apps of the demo: one for each way to connect to a gateway.
enum DemoApp: String, CaseIterable {
    /// HTTP/2 with a provider token.
    case weather
    /// HTTP/2 with a certificate.
    case news
    /// The binary protocol with a certificate.
    case legacy
    /// FCM.
    case android

    /// A short description.
    var about: String {
        switch self {
        case .weather: "HTTP/2, provider token"
        case .news: "HTTP/2, certificate"
        case .legacy: "binary protocol, certificate"
        case .android: "FCM, service account"
        }
    }

    /// The bundle identifier.
    var topic: String { "com.example.\(rawValue)" }
}
