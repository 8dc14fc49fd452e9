package import LinuxIO
package import OpenSSL
package import PushModel

/// What a gateway is configured with, whatever its protocol.
package struct GatewaySettings: Sendable {
    /// The gateway.
    package var endpoint: Endpoint
    /// The identity to present, if it is a certificate, and the authorities to trust.
    package var context: TLSContext
    /// The maximum number of connections; they are opened as needed.
    package var connectionLimit = 1
    /// The maximum send rate over all connections; `nil` means unlimited.
    package var rate: Rate?
    /// Asked before each write whether the owner may still act; `nil` if it always may. Not changed by `reconfigure`.
    package var mayAct: ActPermit?
    /// Accounts for the descriptors of connections; `nil` disables the accounting.
    package var sockets: DescriptorShare?
    /// How long the gateway may take.
    package var timeouts = GatewayTimeouts()
    /// The back-off between failed connects.
    package var connectBackOff = BackOff.ofConnects()
    /// The age at which a connection is replaced; `nil` means never.
    package var maxAge: Duration?
    /// How long a stopped app waits at most before it tries again with one notification.
    package var stopPause = BackOff.usualCeiling
    /// When the gateway last accepted a notification with this identity, if it is known.
    package var acceptedAt: Moment?

    /// Creates settings with the contract's defaults.
    package init(endpoint: Endpoint, context: TLSContext) { (self.endpoint, self.context) = (endpoint, context) }
}
