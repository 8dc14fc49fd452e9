package import APNSBinary
package import APNSGateway
package import APNSHTTP2
package import APNSModel
import LinuxIO
package import SecureTransport

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

    /// The protocol of the gateway.
    package enum Wire: String, CaseIterable, Sendable {
        /// HTTP/2, the protocol of Apple's own gateway.
        case http2
        /// The binary protocol, for compatible gateways.
        case binary
    }

    /// Where a certificate or key comes from.
    package enum Source: Hashable, Sendable {
        /// A file, relative to the folder of the app's file.
        case file(String)
        /// The PEM text itself, which is never printed.
        case text([UInt8])
    }

    /// The kind of credentials.
    package enum Identity: Hashable, Sendable {
        /// A certificate and, if separate, its key, as PEM.
        case certificate(Source, key: Source?)
        /// The path of a PKCS#12 container.
        case pkcs12(String)
        /// A key that signs provider tokens, with its key id and team id.
        case token(key: Source, of: ProviderIdentity)
    }

    /// The feedback service of a gateway of the binary protocol.
    package struct FeedbackPolling: Hashable, Sendable {
        /// Its address.
        package var endpoint: Endpoint
        /// How often it is polled.
        package var every = FeedbackPolling.usualPause

        /// How often a service is polled if nothing else is configured.
        package static let usualPause = Duration.seconds(3600)
    }

    /// The app's name, which is also the name of its file.
    package let name: String
    /// The protocol of the gateway.
    package var wire = Wire.http2
    /// The gateway's environment.
    package var environment = Environment.sandbox
    /// The topic without the suffix of a push type. It must be one of the certificate's topics. `nil`: the
    /// certificate's own topic. With a provider token there is no such default, and every job must name its topic.
    package var topic: String?
    /// The credentials.
    package var identity = Identity.pkcs12("")
    /// A file with the passphrase of the key or container.
    package var passphraseFile: String?
    /// The environment variable that contains the passphrase, as an alternative to `passphraseFile`.
    package var passphraseVariable: String?
    /// The gateway.
    package var endpoint: Endpoint
    /// Where broadcasts go. HTTP/2 only.
    package var broadcasts = Broadcasts(.sandbox)
    /// A file of certificate authorities to trust instead of the system's.
    package var trust: String?
    /// The HTTP proxy between the daemon and the gateway.
    package var proxy: Proxy?
    /// The highest number of connections.
    package var connections = 1
    /// The most unanswered requests on an HTTP/2 connection, even if the gateway allows more.
    package var requestWindow = 1_000
    /// The age at which a connection is replaced; `nil`: connections are not replaced for their age.
    package var maxAge: Duration?
    /// The most notifications per unit of time, over all connections; `nil`: unlimited.
    package var rate: Rate?
    /// How to treat notifications that are unanswered when their connection dies.
    package var onDoubt = OnDoubt.resend
    /// How many connections may die with a notification unanswered before it waits as after a 5xx status. HTTP/2 only.
    package var doubtLimit = 3
    /// The command that receives the feedback.
    package var hook: Hook?
    /// Whether to skip tokens that were reported as no longer valid.
    package var suppress = false
    /// How long the gateway may take.
    package var timeouts = GatewayTimeouts()
    /// The first pause for a token after the gateway answered 429. HTTP/2 only.
    package var retryLater = Duration.seconds(30)
    /// The first pause before a resend after a 5xx status. HTTP/2 only.
    package var retryServerError = Duration.seconds(900)
    /// The longest pause between attempts; also the pause of a stopped app.
    package var retryCeiling = BackOff.usualCeiling
    /// The format in which the binary protocol encodes notifications.
    package var format = FrameFormat.frame
    /// The most unconfirmed notifications on a connection of the binary protocol.
    package var window = 100_000
    /// How the binary protocol confirms that notifications were accepted.
    package var confirmation = BinaryWire.Confirmation.silence(.seconds(5))
    /// The feedback service; `nil`: none is polled.
    package var feedbackService: FeedbackPolling?

    /// Creates an app's configuration with all defaults.
    package init(name: String) {
        self.name = name
        self.endpoint = Self.standardEndpoint(.http2, .sandbox)
    }

    /// Returns the address of Apple's own gateway.
    static func standardEndpoint(_ wire: Wire, _ environment: Environment) -> Endpoint {
        let infix = environment.hostInfix
        let address =
            switch wire {
            case .http2: HostPort(host: "api.\(infix)push.apple.com", port: 443)
            case .binary: HostPort(host: "gateway.\(infix)push.apple.com", port: 2195)
            }
        return Endpoint(address)
    }

    /// The carrier of the app's notifications.
    package var carrier: Carrier {
        switch wire {
        case .http2: .http2
        case .binary: format.carrier
        }
    }

    /// The most notifications per second that one connection can confirm by silence; `nil` with the flush probe and
    /// over HTTP/2.
    package var confirmationLimit: Int? {
        guard wire == .binary, case .silence(let duration) = confirmation else { return nil }
        return Int(Double(window) / (Double(max(1, duration.wholeNanoseconds)) / 1e9))
    }
}
