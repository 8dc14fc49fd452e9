public import Logging

extension Simulator {
    /// The configuration of a simulator. The defaults suit tests on one host.
    public struct Configuration: Sendable {
        /// The address to listen on, without a port. Use one of the host's own addresses to accept connections from
        /// other hosts.
        public var address = "127.0.0.1"
        /// The gateway's port; with 0 the kernel chooses one.
        public var gatewayPort = 0
        /// The feedback service's port; with 0 the kernel chooses one.
        public var feedbackPort = 0
        /// The port for HTTP/2; with 0 the kernel chooses one.
        public var http2Port = 0
        /// The certificates; `nil` creates new ones for this run and `topic`.
        public var certificates: Certificates?
        /// The app that a throwaway client certificate is for.
        public var topic = "com.example.weather"
        /// Whether a client without a certificate is rejected in the handshake. Never applies to HTTP/2, where a client
        /// may use a provider token instead.
        public var requiresClientCertificate = true
        /// The refusals of the gateway without a script.
        public var rules = GatewayRules()
        /// The refusals of the gateway over HTTP/2 without a script.
        public var requestRules = RequestRules()
        /// The gateway's behavior over HTTP/2.
        public var http2Manner = HTTP2Manner()
        /// Google's side.
        public var fcm = FCM()
        /// The misbehavior. Each port counts separately and applies only the rules of its protocol.
        public var script = FaultScript.none
        /// The amount of data that the ledger keeps.
        public var detail = Ledger.Detail.everything
        /// A file to which each notification is appended as a line of JSON. It must not exist yet.
        public var ledgerPath: String?
        /// The feedback service's list for the first client.
        public var feedback: [GoneToken] = []
        /// Tokens that are accepted and then reported by the feedback service.
        public var gone: [GoneToken] = []
        /// Whether the feedback service also reports the tokens that were refused with status 8.
        public var tellsRefusedTokens = false
        /// The way in which the feedback service sends its list.
        public var feedbackManner = FeedbackManner()
        /// The logger. It logs connections at `debug`, but never a token or a payload.
        public var logger = Logger(label: "pushspool.simulator")

        /// Creates the configuration of a strict gateway on ports that the kernel chooses.
        public init() {}
    }

    /// The configuration of a simulator's FCM and token endpoint.
    public struct FCM: Sendable {
        /// The port of FCM's API; with 0 the kernel chooses one.
        public var port = 0
        /// The port of the token endpoint; with 0 the kernel chooses one.
        public var oauthPort = 0
        /// The refusals of both without a script.
        public var rules = FCMRules()
        /// FCM's behavior over HTTP/2.
        public var manner = HTTP2Manner.fcm

        /// Creates the configuration of a strict FCM that knows no project, on ports that the kernel chooses.
        public init() {}
    }

    /// The ports of a simulator.
    public struct Ports: Sendable, Hashable {
        /// The gateway.
        public let gateway: Int
        /// The feedback service.
        public let feedback: Int
        /// The gateway over HTTP/2.
        public let http2: Int
        /// FCM's API, over HTTP/2.
        public let fcm: Int
        /// The token endpoint of Google's service accounts, over HTTP/2.
        public let oauth: Int
    }
}
