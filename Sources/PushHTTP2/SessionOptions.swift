package import PushModel

/// The settings of a connection.
package struct SessionOptions: Sendable {
    /// How long the gateway may be silent.
    package struct Timeouts: Sendable {
        /// For its SETTINGS, as part of connecting, for an answer, and while the connection is idle.
        package var gateway = GatewayTimeouts()
        /// How long unanswered requests may wait in silence before the connection is checked with a PING.
        package var silencePing = Duration.seconds(10)
        /// For the answer to a PING.
        package var pong = Duration.seconds(10)
    }

    /// How requests are written and answers read.
    package var dialect: any RequestDialect
    /// How long the gateway may be silent.
    package var timeouts = Timeouts()
    /// The maximum number of requests in flight, even if the gateway allows more.
    package var streamLimit = 1_000
    /// The mark of the spool, by which its own doors recognize the client; `nil`: it is not sent.
    package var spoolMark: UInt32?

    /// Creates options with the contract's defaults.
    package init(_ dialect: some RequestDialect) {
        self.dialect = dialect
    }
}
