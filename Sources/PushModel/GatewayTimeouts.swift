/// How long a gateway may take, for all that is asked of it.
package struct GatewayTimeouts: Hashable, Sendable {
    /// For connecting, including the handshakes of TLS and of the protocol.
    package var connect = Duration.seconds(15)
    /// For an answer.
    package var answer = Duration.seconds(30)
    /// How long a connection may be idle until a PING checks it (HTTP/2) or it is closed (binary protocol).
    package var idle = Duration.seconds(600)

    /// Creates the contract's defaults.
    package init() {}
}
