package import PushHTTP2
package import SecureTransport

extension HTTP2Wire {
    /// Where and how an app's notifications are sent.
    package struct Configuration: WireConfiguration {
        /// What gateways of all protocols are configured with; ALPN of the context is `h2`.
        package var settings: GatewaySettings
        /// The gateway for broadcasts; the one for devices if there is no other.
        package var broadcastEndpoint: Endpoint?
        /// The source of provider tokens; `nil` when a certificate is the identity.
        package var tokenSource: TokenSource?
        /// The topic of notifications without one; `nil` leaves it to the certificate.
        package var defaultTopic: String?
        /// The maximum number of requests in flight on a connection, even if the gateway allows more: at most these are
        /// in doubt when it ends.
        package var window = 1_000
        /// Whether to read `apns-unique-id`, which only Apple's sandbox sends.
        package var readsUniqueIDs = false
        /// The proxy to connect through, if any.
        package var proxy: Proxy?
        /// The pauses before a notification is retried.
        package var pauses = RequestQueue.Pauses()

        /// Creates a configuration with the contract's defaults.
        package init(_ settings: GatewaySettings) { self.settings = settings }

        /// The configuration of one route's connections.
        func of(_ route: Route) -> Configuration {
            guard route == .broadcasts, let broadcastEndpoint else { return self }
            var configuration = self
            configuration.settings.endpoint = broadcastEndpoint
            return configuration
        }
    }
}
