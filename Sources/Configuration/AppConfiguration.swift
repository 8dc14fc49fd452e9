import APNSBinary
package import APNSModel
package import Gateways
import LinuxIO
package import PushModel

/// The content of `apps/<app>.yaml`: one identity at one gateway.
package struct AppConfiguration: Sendable, Hashable {
    /// The gateway's environment.
    package enum Environment: String, CaseIterable, Sendable {
        /// For apps under development.
        case sandbox
        /// For apps from the App Store.
        case production

        /// The part between the service and the domain in the names of Apple's hosts.
        var hostInfix: String { self == .sandbox ? "sandbox." : "" }
    }

    /// The protocol of the gateway, with what only it is configured with.
    package enum Wire: Hashable, Sendable {
        /// HTTP/2, the protocol of Apple's own gateway.
        case http2(HTTP2)
        /// The binary protocol, for compatible gateways.
        case binary(Binary)
        /// FCM's HTTP v1 API.
        case fcm(FCM)

        /// The names of the protocols in files.
        package enum Name: String, CaseIterable, Sendable {
            /// HTTP/2.
            case http2
            /// The binary protocol.
            case binary
            /// FCM's HTTP v1 API.
            case fcm
        }

        /// The protocol's name.
        package var name: Name {
            switch self {
            case .http2: .http2
            case .binary: .binary
            case .fcm: .fcm
            }
        }

        /// The address of Apple's or Google's own gateway.
        var standardAddress: HostPort {
            switch self {
            case .http2(let http2): HostPort(host: "api.\(http2.environment.hostInfix)push.apple.com", port: 443)
            case .binary(let binary):
                HostPort(host: "gateway.\(binary.environment.hostInfix)push.apple.com", port: 2195)
            case .fcm: HostPort(host: "fcm.googleapis.com", port: 443)
            }
        }
    }

    /// The app's name, which is also the name of its file.
    package let name: String
    /// The protocol of the gateway.
    package var wire: Wire
    /// The topic without the suffix of a push type. It must be one of the certificate's topics. `nil`: the
    /// certificate's own topic. With a provider token there is no such default, and every job must name its topic.
    package var topic: String?
    /// The credentials.
    package var credentials = AppCredentials()
    /// The gateway.
    package var endpoint: Endpoint
    /// A file of certificate authorities to trust instead of the system's.
    package var trust: String?
    /// The highest number of connections.
    package var connections = 1
    /// The age at which a connection is replaced; `nil`: connections are not replaced for their age.
    package var maxAge: Duration?
    /// The most notifications per unit of time, over all connections; `nil`: unlimited.
    package var rate: Rate?
    /// How to treat notifications that are unanswered when their connection dies.
    package var onDoubt = OnDoubt.resend
    /// The command that receives the feedback.
    package var hook: Hook?
    /// Whether to skip tokens that were reported as no longer valid.
    package var suppress = false
    /// How long the gateway may take.
    package var timeouts = GatewayTimeouts()
    /// The longest pause between attempts; also the pause of a stopped app.
    package var retryCeiling = BackOff.usualCeiling
    /// Creates an app's configuration with all defaults.
    package init(name: String) {
        (self.name, wire) = (name, .http2(HTTP2(.sandbox)))
        endpoint = Endpoint(wire.standardAddress)
    }

    /// The gateway's environment; `nil` with FCM, which has none.
    package var environment: Environment? {
        switch wire {
        case .http2(let http2): http2.environment
        case .binary(let binary): binary.environment
        case .fcm: nil
        }
    }

    /// What Apple's HTTP/2 is configured with; `nil` with another protocol.
    package var http2: HTTP2? {
        if case .http2(let http2) = wire { http2 } else { nil }
    }

    /// What the binary protocol is configured with; `nil` with another protocol.
    package var binary: Binary? {
        if case .binary(let binary) = wire { binary } else { nil }
    }

    /// What FCM is configured with; `nil` with another protocol.
    package var fcm: FCM? {
        if case .fcm(let fcm) = wire { fcm } else { nil }
    }

    /// How requests are made; `nil` with the binary protocol.
    package var requests: Requests? { http2?.requests ?? fcm?.requests }

    /// Whether a message may have fields that pushspool does not know.
    package var toleratesUnknownFields: Bool { fcm?.unknownFields == .warn }

    /// The app's broadcast channels, by name.
    package var channels: [String: BroadcastChannel] { http2?.broadcasts.channels ?? [:] }

    /// Returns the configuration with other names of channels, if its protocol has any.
    func with(_ channels: [String: BroadcastChannel]) -> AppConfiguration {
        guard var http2 else { return self }
        http2.broadcasts.channels = channels
        var other = self
        other.wire = .http2(http2)
        return other
    }

    /// The carrier of the app's notifications.
    package var carrier: Carrier {
        switch wire {
        case .http2: .http2
        case .binary(let binary): binary.format.carrier
        case .fcm: .fcm
        }
    }
}
