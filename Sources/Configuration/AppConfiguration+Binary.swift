package import APNSBinary
import Document
package import Gateways
import LinuxIO
import PushModel

extension AppConfiguration {
    /// What only the binary protocol is configured with.
    package struct Binary: Hashable, Sendable {
        /// The gateway's environment.
        package let environment: Environment
        /// The format of notifications.
        package var format = FrameFormat.frame
        /// The most unconfirmed notifications on a connection.
        package var window = 100_000
        /// How it is confirmed that notifications were accepted.
        package var confirmation = BinaryWire.Confirmation.silence(.seconds(5))
        /// The feedback service; `nil`: none is polled.
        package var feedbackService: FeedbackPolling?

        /// Creates the configuration with all defaults.
        init(_ environment: Environment) { self.environment = environment }

        /// The most notifications per second that one connection can confirm by silence; `nil` with the flush probe.
        package var confirmationLimit: Int? {
            guard case .silence(let duration) = confirmation else { return nil }
            return Int(Double(window) / (Double(max(1, duration.wholeNanoseconds)) / 1e9))
        }
    }

    /// The feedback service of a gateway.
    package struct FeedbackPolling: Hashable, Sendable {
        /// Its address.
        package var endpoint: Endpoint
        /// How often it is polled.
        package var every = FeedbackPolling.usualPause

        /// How often a service is polled if nothing else is configured.
        package static let usualPause = Duration.seconds(3600)
    }
}

extension AppConfiguration.Binary {
    private enum Format: String, CaseIterable {
        case frame
        case enhanced
        case simple
    }

    private enum Proof: String, CaseIterable {
        case silence
        case probe
    }

    /// Reads the section `binary`.
    mutating func read(_ fields: inout Fields) {
        switch fields.choice("format", of: Format.self) {
        case .frame, nil: format = .frame
        case .enhanced: format = .enhanced
        case .simple: format = .simple
        }
        window = fields.integer("window", in: 1...10_000_000, or: window)
        let proof = fields.choice("confirm", of: Proof.self, or: .silence)
        let quiet = fields.duration("confirm_after", in: .milliseconds(100)...(.seconds(3600)), or: .seconds(5))
        confirmation = proof == .probe ? .probe : .silence(quiet)
        if quiet < .seconds(3), proof == .silence {
            fields.warn(
                "confirm_after", "is shorter than some gateways take to report an error",
                hint: "use 3s or more in production")
        }
        if proof == .probe, format == .simple {
            fields.refuse("confirm", "probe needs identifiers, which format: simple lacks", hint: "use format: frame")
        }
    }

    /// Reads the section `feedback_service`.
    mutating func readFeedbackService(_ fields: inout Fields) {
        let standard = HostPort(host: "feedback.\(environment.hostInfix)push.apple.com", port: 2196)
        let address = fields.address("gateway", defaultPort: 2196) ?? standard
        var polling = AppConfiguration.FeedbackPolling(
            endpoint: Endpoint(address, serverName: fields.host("server_name")))
        polling.every = fields.duration("every", in: .milliseconds(100)...(.seconds(7 * 86_400)), or: polling.every)
        feedbackService = polling
    }
}
