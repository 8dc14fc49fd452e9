package import APNSHTTP2
package import APNSModel
package import LinuxIO
package import OpenSSL
package import SecureTransport

extension HTTP2Gateway {
    /// Where and how an app's notifications are sent.
    package struct Configuration: Sendable {
        /// The gateway.
        package var endpoint: Endpoint
        /// The gateway for broadcasts; the one for devices if there is no other.
        package var broadcastEndpoint: Endpoint?
        /// The identity to present, if it is a certificate, and the authorities to trust; ALPN is `h2`.
        package var context: TLSContext
        /// The source of provider tokens; `nil` when a certificate is the identity.
        package var tokenSource: TokenSource?
        /// The topic of notifications without one; `nil` leaves it to the certificate.
        package var defaultTopic: String?
        /// The maximum number of connections; they are opened as needed.
        package var connectionLimit = 1
        /// The maximum number of requests in flight on a connection, even if the gateway allows more: at most these are
        /// in doubt when it ends.
        package var window = 1_000
        /// The maximum send rate over all connections; `nil` means unlimited.
        package var rate: Rate?
        /// Asked before each write whether the owner may still act; `nil` if it always may. Not changed by `reconfigure`.
        package var mayAct: ActPermit?
        /// Accounts for the descriptors of connections; `nil` disables the accounting.
        package var sockets: DescriptorShare?
        /// Whether to read `apns-unique-id`, which only Apple's sandbox sends.
        package var readsUniqueIDs = false
        /// How long the gateway may take.
        package var timeouts = GatewayTimeouts()
        /// The proxy to connect through, if any.
        package var proxy: Proxy?
        /// The pauses before a notification is retried.
        package var pauses = RequestQueue.Pauses()
        /// The back-off between failed connects.
        package var connectBackOff = BackOff.ofConnects()
        /// The age at which a connection is replaced; `nil` means never.
        package var maxAge: Duration?
        /// How long a stopped app waits at most before it tries again with one notification.
        package var stopPause = BackOff.usualCeiling
        /// When the gateway last accepted a notification with this identity, if it is known.
        package var acceptedAt: Moment?

        /// Creates a configuration with the contract's defaults.
        package init(endpoint: Endpoint, context: TLSContext) {
            self.endpoint = endpoint
            self.context = context
        }

        /// The configuration of one route's connections.
        func of(_ route: Route) -> Configuration {
            guard route == .broadcasts, let broadcastEndpoint else { return self }
            var configuration = self
            configuration.endpoint = broadcastEndpoint
            return configuration
        }

        var terms: GatewayState.Terms { .init(window, connectBackOff, longestStop: stopPause, acceptedAt) }
    }
}
