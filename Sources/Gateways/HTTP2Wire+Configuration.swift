import APNSHTTP2
import FCMHTTP2
package import PushHTTP2
package import SecureTransport

extension HTTP2Wire {
    /// Whose API the gateway speaks.
    package enum Service: Sendable {
        /// Apple's.
        case apns(APNS)
        /// Google's, for the project with this id or number.
        case fcm(project: String)

        /// Creates the dialect of a connection.
        func dialect(authority: String, authorization: String?) -> any RequestDialect {
            switch self {
            case .apns(let apns):
                let sender = RequestFields.Sender(
                    authority: authority, app: apns.defaultTopic, authorization: authorization)
                return APNSDialect(sender: sender, readsIDs: apns.readsUniqueIDs)
            case .fcm(let project):
                return FCMDialect(authority: authority, project: project, authorization: authorization)
            }
        }

        /// The owner's name, for messages.
        var owner: String {
            switch self {
            case .apns: "Apple"
            case .fcm: "Google"
            }
        }
    }

    /// What only Apple's API has.
    package struct APNS: Sendable {
        /// The gateway for broadcasts; the one for devices if there is no other.
        package var broadcastEndpoint: Endpoint?
        /// The topic of notifications without one; `nil` leaves it to the certificate.
        package var defaultTopic: String?
        /// Whether to read `apns-unique-id`, which only Apple's sandbox sends.
        package var readsUniqueIDs = false
        /// The mark of the spool, by which its own doors recognize the client.
        package var spoolMark: UInt32?

        /// Creates what an app with this topic has.
        package init(defaultTopic: String? = nil) { self.defaultTopic = defaultTopic }
    }

    /// Where and how an app's notifications are sent.
    package struct Configuration: WireConfiguration {
        /// What gateways of all protocols are configured with; ALPN of the context is `h2`.
        package var settings: GatewaySettings
        /// Whose API the gateway speaks.
        package var service: Service
        /// The source of tokens; `nil` when a certificate is the identity.
        package var tokenSource: (any TokenSource)?
        /// The maximum number of requests in flight on a connection, even if the gateway allows more: at most these are
        /// in doubt when it ends.
        package var window = 1_000
        /// The proxy to connect through, if any.
        package var proxy: Proxy?
        /// The pauses before a notification is retried.
        package var pauses = RequestQueue.Pauses()

        /// Creates a configuration with the contract's defaults.
        package init(_ settings: GatewaySettings, _ service: Service) {
            (self.settings, self.service) = (settings, service)
        }

        /// What the topic of notifications is that name none.
        var defaultTopic: String? {
            if case .apns(let apns) = service { apns.defaultTopic } else { nil }
        }

        /// The configuration of one route's connections.
        func of(_ route: Route) -> Configuration {
            guard route == .broadcasts, case .apns(let apns) = service, let endpoint = apns.broadcastEndpoint else {
                return self
            }
            var configuration = self
            configuration.settings.endpoint = endpoint
            return configuration
        }
    }
}
