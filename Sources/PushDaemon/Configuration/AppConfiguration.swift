package import APNSBinary
package import APNSGateway
package import APNSModel
import LinuxIO

/// What `apps/<app>.yaml` says: one identity at one gateway.
package struct AppConfiguration: Sendable, Hashable {
    /// The gateway's environment.
    package enum Environment: String, CaseIterable, Sendable {
        /// For apps under development.
        case sandbox
        /// For apps from the store.
        case production
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
    }

    /// The app, after which the file is named.
    package let name: String
    /// The gateway's environment.
    package var environment = Environment.sandbox
    /// The topic, which must be one of the certificate's; `nil`: the certificate's own.
    package var topic: String?
    /// The credentials.
    package var identity = Identity.pkcs12("")
    /// A file with the passphrase of key or container.
    package var passphraseFile: String?
    /// The gateway.
    package var endpoint: Endpoint
    /// A file of authorities to believe instead of the system's.
    package var trust: String?
    /// The most connections.
    package var connections = 1
    /// What a connection that dies without an answer makes of the notifications on it.
    package var onDoubt = OnDoubt.resend
    /// How long connecting may take.
    package var connectTimeout = Duration.seconds(15)
    /// How long an answer may take.
    package var answerTimeout = Duration.seconds(30)
    /// How long a connection may be idle.
    package var idlePing = Duration.seconds(600)
    /// The longest pause, and that of a stopped app.
    package var retryCeiling = Duration.seconds(4 * 3600)
    /// The spelling of notifications.
    package var format = FrameFormat.frame
    /// The most notifications in doubt on a connection.
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
        self.endpoint = Endpoint(HostPort(host: "gateway.sandbox.push.apple.com", port: 2195))
    }

    /// How many notifications a second a connection can confirm by silence at the most; `nil` with the flush probe.
    package var confirmationLimit: Int? {
        guard case .silence(let duration) = confirmation else { return nil }
        return Int(Double(window) / (Double(max(1, duration.wholeNanoseconds)) / 1e9))
    }
}
