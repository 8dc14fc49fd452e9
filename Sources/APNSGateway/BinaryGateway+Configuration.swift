package import APNSBinary
package import APNSModel
package import LinuxIO
package import OpenSSL

extension BinaryGateway {
    /// How the gateway decides that notifications were accepted.
    package enum Confirmation: Hashable, Sendable {
        /// No error reply within this time after the peer's kernel acknowledged them.
        case silence(Duration)
        /// The flush probe alone. It also proves that the gateway read them, and costs the connection.
        case probe
    }

    /// Where and how an app's notifications are sent.
    package struct Configuration: Sendable {
        /// The gateway.
        package var endpoint: Endpoint
        /// The identity to show and the authorities to trust.
        package var context: TLSContext
        /// The frame format of notifications.
        package var format: FrameFormat
        /// The maximum number of connections; they are opened as needed.
        package var connectionLimit = 1
        /// The maximum send rate over all connections; `nil` means unlimited.
        package var rate: Rate?
        /// Asked before each write whether the owner may still act; `nil` if it always may. Not changed by `reconfigure`.
        package var mayAct: ActPermit?
        /// Accounts for the descriptors of connections; `nil` disables the accounting.
        package var sockets: DescriptorShare?
        /// The maximum number of notifications in doubt on a connection.
        package var windowLimit = 100_000
        /// The proof of acceptance.
        package var confirmation = Confirmation.silence(.seconds(5))
        /// How long the gateway may take; to answer, a flush probe.
        package var timeouts = GatewayTimeouts()
        /// The back-off between failed connects.
        package var connectBackOff = BackOff.ofConnects()
        /// The age at which a connection is replaced; `nil` means never.
        package var maxAge: Duration?
        /// How long a stopped app waits at most before it tries again with one notification.
        package var stopPause = BackOff.usualCeiling
        /// When the gateway last accepted a notification with this identity, if it is known.
        package var acceptedAt: Moment?

        /// Creates a configuration with the contract's defaults.
        package init(endpoint: Endpoint, context: TLSContext, format: FrameFormat = .frame) {
            self.endpoint = endpoint
            self.context = context
            self.format = format
        }

        var pipelineOptions: PipelineMachine.Options {
            var options = PipelineMachine.Options(format: format, windowLimit: windowLimit, confirmAfter: nil)
            if case .silence(let duration) = confirmation { options.confirmAfter = duration }
            return options
        }

        var terms: GatewayState.Terms { .init(windowLimit, connectBackOff, longestStop: stopPause, acceptedAt) }
    }
}
