public import Logging

extension Simulator {
    /// How a simulator is set up. What it is made with works for tests on one host.
    public struct Configuration: Sendable {
        /// The address to listen on, without port; a host's own address lets other hosts in.
        public var address = "127.0.0.1"
        /// The gateway's port; 0 has the kernel choose one.
        public var gatewayPort = 0
        /// The feedback service's port; 0 has the kernel choose one.
        public var feedbackPort = 0
        /// The port for HTTP/2; 0 has the kernel choose one.
        public var http2Port = 0
        /// The certificates; `nil`: new ones are made for this run, for `topic`.
        public var certificates: Certificates?
        /// The app that a throw-away client certificate is for.
        public var topic = "com.example.weather"
        /// Whether a client without a certificate is turned away in the handshake; never over HTTP/2, where it may bring
        /// a provider token instead.
        public var requiresClientCertificate = true
        /// What the gateway refuses of its own accord.
        public var rules = GatewayRules()
        /// What it refuses of its own accord over HTTP/2.
        public var requestRules = RequestRules()
        /// How it behaves over HTTP/2.
        public var http2Manner = HTTP2Manner()
        /// What it does wrong, and when; each port counts for itself, and only rules of its protocol act there.
        public var script = FaultScript.none
        /// How much the ledger keeps.
        public var detail = Ledger.Detail.everything
        /// A file that gets a line of JSON for each notification as it comes; it must not be there yet.
        public var ledgerPath: String?
        /// What the feedback service tells the first client.
        public var feedback: [GoneToken] = []
        /// Tokens that are accepted, and then told by the feedback service.
        public var gone: [GoneToken] = []
        /// Whether the feedback service also tells the tokens that were refused with status 8.
        public var tellsRefusedTokens = false
        /// How the feedback service sends its list.
        public var feedbackManner = FeedbackManner()
        /// Where it logs; connections at `debug`, never a token or a payload.
        public var logger = Logger(label: "pushspool.simulator")

        /// Creates the configuration of a strict gateway on ports of the kernel's choice.
        public init() {}
    }

    /// Where a simulator listens.
    public struct Ports: Sendable, Hashable {
        /// The gateway.
        public let gateway: Int
        /// The feedback service.
        public let feedback: Int
        /// The gateway over HTTP/2.
        public let http2: Int
    }
}
