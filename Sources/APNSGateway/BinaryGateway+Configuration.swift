package import APNSBinary
package import APNSModel
package import LinuxIO
package import OpenSSL

extension BinaryGateway {
    /// How notifications come to be taken for accepted.
    package enum Confirmation: Hashable, Sendable {
        /// By silence of this length after the peer's kernel has them.
        case silence(Duration)
        /// By the flush probe alone, which also proves that the gateway read them, and costs the connection.
        case probe
    }

    /// Where an app's notifications go, and how.
    package struct Configuration: Sendable {
        /// The gateway.
        package var endpoint: Endpoint
        /// The identity to show and the authorities to trust.
        package var context: TLSContext
        /// The spelling of notifications.
        package var format: FrameFormat
        /// The most connections at a time; they are opened as needed.
        package var connectionLimit = 1
        /// How many notifications may be written in which time, over all connections; `nil`: as many as can be.
        package var rate: Rate?
        /// What counts the descriptors of connections; `nil`: they are not counted.
        package var sockets: DescriptorShare?
        /// The most notifications in doubt on a connection.
        package var windowLimit = 100_000
        /// What proves acceptance.
        package var confirmation = Confirmation.silence(.seconds(5))
        /// How long connecting may take, handshake included.
        package var connectTimeout = Duration.seconds(15)
        /// How long the gateway may leave a flush probe unanswered.
        package var answerTimeout = Duration.seconds(30)
        /// After how long without work a connection is closed; the next one is opened when there is work.
        package var idleLimit = Duration.seconds(600)
        /// The pauses between connects that fail.
        package var connectBackOff = BackOff(first: .seconds(1), ceiling: .seconds(60))
        /// After how long a connection is replaced by another; `nil`: never for its age alone.
        package var maxAge: Duration?
        /// How long a stopped app waits before it asks again with one notification.
        package var stopPause = Duration.seconds(4 * 3600)

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

        /// How windows and pauses begin.
        var pacing: WindowPacing { WindowPacing(full: windowLimit, backOff: connectBackOff) }
    }
}
