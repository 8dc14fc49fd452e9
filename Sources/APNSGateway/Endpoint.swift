package import LinuxIO

/// Where a gateway listens, and the name its certificate must carry.
package struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// Host and TCP port. The port says nothing about the protocol: Apple uses 2195 and 2196 for HTTP/2 today.
    package let address: HostPort
    /// The name or address that the server's certificate is checked against.
    package let serverName: String
    /// How long it may leave what was written to it unacknowledged.
    package var writeTimeout = Duration.seconds(20)

    /// Creates an endpoint; the certificate is checked against the host unless a server name is given.
    package init(_ address: HostPort, serverName: String? = nil) {
        self.address = address
        self.serverName = serverName ?? address.host
    }

    /// What a request over HTTP/2 names as its target (RFC 9113 §8.3.1): the port only where it is not that of HTTPS.
    package var authority: String { address.port == 443 ? address.host : address.description }

    /// `host:port`.
    package var description: String { address.description }
}
