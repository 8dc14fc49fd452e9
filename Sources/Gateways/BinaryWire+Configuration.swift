package import APNSBinary
import PushModel

extension BinaryWire {
    /// How the gateway decides that notifications were accepted.
    package enum Confirmation: Hashable, Sendable {
        /// No error reply within this time after the peer's kernel acknowledged them.
        case silence(Duration)
        /// The flush probe alone. It also proves that the gateway read them, and costs the connection.
        case probe
    }

    /// Where and how an app's notifications are sent.
    package struct Configuration: WireConfiguration {
        /// What gateways of all protocols are configured with.
        package var settings: GatewaySettings
        /// The frame format of notifications.
        package var format: FrameFormat
        /// The maximum number of notifications in doubt on a connection.
        package var window = 100_000
        /// The proof of acceptance.
        package var confirmation = Confirmation.silence(.seconds(5))

        /// Creates a configuration with the contract's defaults.
        package init(_ settings: GatewaySettings, format: FrameFormat = .frame) {
            (self.settings, self.format) = (settings, format)
        }

        var pipelineOptions: PipelineMachine.Options {
            var options = PipelineMachine.Options(format: format, windowLimit: window, confirmAfter: nil)
            if case .silence(let duration) = confirmation { options.confirmAfter = duration }
            return options
        }
    }
}
