import Document
import Gateways
import LinuxIO

extension AppConfiguration {
    /// What only Apple's HTTP/2 is configured with.
    package struct HTTP2: Hashable, Sendable {
        /// The gateway's environment.
        package let environment: Environment
        /// Where broadcasts go.
        package var broadcasts: Broadcasts
        /// How requests are made.
        package var requests = Requests(
            window: 1_000, later: .seconds(30), serverError: .seconds(900))

        /// Creates the configuration for Apple's own gateway with all defaults.
        init(_ environment: Environment) { (self.environment, broadcasts) = (environment, Broadcasts(environment)) }
    }
}

extension AppConfiguration.HTTP2 {
    /// Reads the keys outside of sections; `gateway` is where notifications to devices go.
    mutating func read(_ fields: inout Fields, gateway: Endpoint) {
        readBroadcasts(&fields, gateway)
        requests.read(&fields, window: 1...100_000)
    }

    /// Reads `broadcast_gateway`, `channel_gateway` and `channels`. A gateway that is not Apple's serves broadcasts and manages
    /// channels too, unless others are named.
    private mutating func readBroadcasts(_ fields: inout Fields, _ gateway: Endpoint) {
        var apples = Endpoint(AppConfiguration.Wire.http2(self).standardAddress)
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
        fields.sketch("channels", AppConfiguration.channelsShape)
        if let names = fields.value("channels") {
            broadcasts.channels = AppConfiguration.readChannels(
                names, path: fields.path(of: "channels"), report: &fields.report)
        }
    }
}
