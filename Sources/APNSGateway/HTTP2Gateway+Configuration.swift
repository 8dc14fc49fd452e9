package import APNSHTTP2
package import APNSModel
package import LinuxIO
package import OpenSSL
package import SecureTransport

extension HTTP2Gateway {
    /// Where an app's notifications go, and how.
    package struct Configuration: Sendable {
        /// The gateway.
        package var endpoint: Endpoint
        /// The identity to show, if it is a certificate, and the authorities to trust; ALPN is `h2`.
        package var context: TLSContext
        /// Where provider tokens come from; `nil` when a certificate is the identity.
        package var tokenSource: TokenSource?
        /// The topic of notifications that name none; `nil` leaves it to the certificate.
        package var defaultTopic: String?
        /// The most connections at a time; they are opened as needed.
        package var connectionLimit = 1
        /// The most requests in flight on a connection, whatever the gateway allows: what its end may leave in doubt.
        package var window = 1_000
        /// How many notifications may be written in which time, over all connections; `nil`: as many as can be.
        package var rate: Rate?
        /// What counts the descriptors of connections; `nil`: they are not counted.
        package var sockets: DescriptorShare?
        /// How long connecting may take, handshake included.
        package var connectTimeout = Duration.seconds(15)
        /// How long the gateway may leave a request unanswered.
        package var answerTimeout = Duration.seconds(30)
        /// After how long without work a connection is asked whether it lives.
        package var idlePing = Duration.seconds(600)
        /// The way to the gateway, if it leads through a proxy.
        package var proxy: Proxy?
        /// The pauses before another try of a notification.
        package var pauses = RequestQueue.Pauses()
        /// The pauses between connects that fail.
        package var connectBackOff = BackOff(first: .seconds(1), ceiling: .seconds(60))
        /// After how long a connection is replaced by another; `nil`: never for its age alone.
        package var maxAge: Duration?
        /// How long a stopped app waits before it asks again with one notification.
        package var stopPause = Duration.seconds(4 * 3600)

        /// Creates a configuration with the contract's defaults.
        package init(endpoint: Endpoint, context: TLSContext) {
            self.endpoint = endpoint
            self.context = context
        }

        /// How windows and pauses begin.
        var pacing: WindowPacing { WindowPacing(full: window, backOff: connectBackOff) }
    }
}
