package import APNSBinary
package import APNSGateway
package import APNSHTTP2
package import APNSModel
import LinuxIO
package import SecureTransport

/// What `apps/<app>.yaml` says: one identity at one gateway.
package struct AppConfiguration: Sendable, Hashable {
    /// The gateway's environment.
    package enum Environment: String, CaseIterable, Sendable {
        /// For apps under development.
        case sandbox
        /// For apps from the store.
        case production
    }

    /// What the gateway speaks.
    package enum Wire: String, CaseIterable, Sendable {
        /// HTTP/2: Apple's own gateway.
        case http2
        /// The binary protocol, of compatible gateways.
        case binary
    }

    /// Where a certificate or key comes from.
    package enum Source: Hashable, Sendable {
        /// A file, relative to the configuration's folder.
        case file(String)
        /// The PEM text itself, with its place in the file left out of everything printed.
        case text([UInt8])
    }

    /// Which credentials the app has.
    package enum Identity: Hashable, Sendable {
        /// A certificate and, if separate, its key, as PEM.
        case certificate(Source, key: Source?)
        /// A PKCS#12 container.
        case pkcs12(String)
        /// A key that signs provider tokens, and how it and its team are called.
        case token(key: Source, of: ProviderIdentity)
    }

    /// The app, after which the file is named.
    package let name: String
    /// What the gateway speaks.
    package var wire = Wire.http2
    /// The gateway's environment.
    package var environment = Environment.sandbox
    /// The topic, without the suffix of a push type, which must be one of the certificate's; `nil`: the certificate's
    /// own, and with a provider token none: then every job must name it.
    package var topic: String?
    /// The credentials.
    package var identity = Identity.pkcs12("")
    /// A file with the passphrase of key or container.
    package var passphraseFile: String?
    /// The variable of the environment that the passphrase is in, instead.
    package var passphraseVariable: String?
    /// The gateway.
    package var endpoint: Endpoint
    /// A file of authorities to believe instead of the system's.
    package var trust: String?
    /// The HTTP proxy on the way to the gateway.
    package var proxy: Proxy?
    /// The most connections.
    package var connections = 1
    /// The most requests without an answer on a connection over HTTP/2, whatever the gateway allows.
    package var requestWindow = 1_000
    /// After how long a connection is replaced; `nil`: never for its age alone.
    package var maxAge: Duration?
    /// How many notifications may be sent in which time, over all connections; `nil`: as many as can be.
    package var rate: Rate?
    /// What a connection that dies without an answer makes of the notifications on it.
    package var onDoubt = OnDoubt.resend
    /// How often connections may leave a notification in doubt before it waits as after 5xx. HTTP/2 only.
    package var doubtLimit = 3
    /// The command that gets the feedback.
    package var hook: Hook?
    /// Whether tokens that were reported gone are not sent to again.
    package var suppress = false
    /// How long connecting may take.
    package var connectTimeout = Duration.seconds(15)
    /// How long an answer may take.
    package var answerTimeout = Duration.seconds(30)
    /// How long a connection may be idle before HTTP/2 asks whether it still stands, and the binary protocol ends it.
    package var idlePing = Duration.seconds(600)
    /// The first pause before a notification is sent again that the gateway asked to be patient with. HTTP/2 only.
    package var retryLater = Duration.seconds(30)
    /// The same after the gateway failed.
    package var retryServerError = Duration.seconds(900)
    /// The longest pause, and that of a stopped app.
    package var retryCeiling = Duration.seconds(4 * 3600)
    /// The spelling of notifications.
    package var format = FrameFormat.frame
    /// The most notifications in doubt on a connection of the binary protocol.
    package var window = 100_000
    /// What proves acceptance.
    package var confirmation = BinaryGateway.Confirmation.silence(.seconds(5))
    /// The feedback service; `nil`: not asked.
    package var feedbackEndpoint: Endpoint?
    /// How often it is asked.
    package var feedbackEvery = Duration.seconds(3600)

    /// Creates the configuration of an app that has said nothing yet.
    package init(name: String) {
        self.name = name
        self.endpoint = Self.standardEndpoint(.http2, .sandbox)
    }

    /// Apple's own gateway.
    static func standardEndpoint(_ wire: Wire, _ environment: Environment) -> Endpoint {
        let infix = environment == .sandbox ? "sandbox." : ""
        let address =
            switch wire {
            case .http2: HostPort(host: "api.\(infix)push.apple.com", port: 443)
            case .binary: HostPort(host: "gateway.\(infix)push.apple.com", port: 2195)
            }
        return Endpoint(address)
    }

    /// What carries the app's notifications.
    package var carrier: Carrier {
        switch wire {
        case .http2: .http2
        case .binary: format.carrier
        }
    }

    /// How many notifications a second a connection can confirm by silence at the most; `nil` with the flush probe
    /// and over HTTP/2.
    package var confirmationLimit: Int? {
        guard wire == .binary, case .silence(let duration) = confirmation else { return nil }
        return Int(Double(window) / (Double(max(1, duration.wholeNanoseconds)) / 1e9))
    }
}
