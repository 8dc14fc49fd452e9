import Document
import Gateways
import LinuxIO
package import SecureTransport

extension AppConfiguration {
    /// What only HTTP/2 is configured with.
    package struct HTTP2: Hashable, Sendable {
        /// Where broadcasts go.
        package var broadcasts: Broadcasts
        /// The HTTP proxy between the daemon and the gateway.
        package var proxy: Proxy?
        /// The most unanswered requests on a connection, even if the gateway allows more.
        package var window = 1_000
        /// How many connections may die with a notification unanswered before it waits as after a 5xx status.
        package var doubtLimit = 3
        /// The first pause for a token after the gateway answered 429.
        package var retryLater = Duration.seconds(30)
        /// The first pause before a resend after a 5xx status.
        package var retryServerError = Duration.seconds(900)

        /// Creates the configuration for Apple's own gateway with all defaults.
        init(_ environment: Environment) { broadcasts = Broadcasts(environment) }
    }
}

extension AppConfiguration.HTTP2 {
    /// Reads the keys outside of sections; `gateway` is where notifications to devices go.
    mutating func read(_ fields: inout Fields, gateway: Endpoint, _ environment: AppConfiguration.Environment) {
        readBroadcasts(&fields, gateway, environment)
        proxy = fields.proxy("proxy")
        window = fields.integer("window", in: 1...100_000) ?? window
        fields.mapping("doubt") { doubtLimit = $0.integer("limit", in: 1...100) ?? doubtLimit }
    }

    /// Reads `broadcast_gateway`, `channel_gateway` and `channels`. A gateway that is not Apple's serves broadcasts and manages
    /// channels too, unless others are named.
    private mutating func readBroadcasts(
        _ fields: inout Fields, _ gateway: Endpoint, _ environment: AppConfiguration.Environment
    ) {
        var apples = AppConfiguration.standardEndpoint(.http2, environment)
        apples.writeTimeout = gateway.writeTimeout
        let standardPort = broadcasts.channelEndpoint.address.port
        if gateway != apples { (broadcasts.endpoint, broadcasts.channelEndpoint) = (gateway, gateway) }
        let serverName = fields.host("server_name")
        if let address = fields.address("broadcast_gateway", defaultPort: 443) {
            broadcasts.endpoint = Endpoint(address, serverName: serverName)
        }
        if let address = fields.address("channel_gateway", defaultPort: standardPort) {
            broadcasts.channelEndpoint = Endpoint(address, serverName: serverName)
        }
        broadcasts.endpoint.writeTimeout = gateway.writeTimeout
        broadcasts.channelEndpoint.writeTimeout = gateway.writeTimeout
        if let names = fields.value("channels") {
            broadcasts.channels = AppConfiguration.readChannels(
                names, path: fields.path(of: "channels"), report: &fields.report)
        }
    }
}

extension Fields {
    /// The URL of a proxy. Messages never quote it, since it may contain a password.
    fileprivate mutating func proxy(_ key: String) -> Proxy? {
        guard let text = string(key) else { return nil }
        do {
            return try Proxy(url: text)
        } catch {
            refuse(key, error.message, hint: error.hint)
            return nil
        }
    }
}
