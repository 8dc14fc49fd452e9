package import LinuxIO

/// The address of a gateway and the name its certificate must carry.
package struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// Host and TCP port. The port does not imply the protocol: Apple uses 2195 and 2196 for HTTP/2 today.
    package let address: HostPort
    /// The name or address that the server's certificate is checked against.
    package let serverName: String
    /// How long written bytes may stay unacknowledged.
    package var writeTimeout = Duration.seconds(20)

    /// Creates an endpoint; the certificate is checked against the host unless a server name is given.
    package init(_ address: HostPort, serverName: String? = nil) {
        self.address = address
        self.serverName = serverName ?? address.host
    }

    /// The `:authority` of HTTP/2 requests (RFC 9113 §8.3.1). Includes the port only if it is not 443.
    package var authority: String { address.port == 443 ? address.host : address.description }

    /// `host:port`.
    package var description: String { address.description }
}
