import NGHTTP2
import PushModel

/// An API that a simulated gateway serves over HTTP/2. One value reads and judges the requests of one connection.
protocol ServedAPI {
    /// The port on which it is served.
    var port: Port { get }
    /// The bytes of the address that the latest request is for; empty if there is none that can be read.
    var address: [UInt8] { get }
    /// What a gateway tolerates in the latest request but a client should avoid.
    var oddities: [String] { get }
    /// Whether the latest request takes effect even if it is accepted and not answered.
    var takesEffectUnanswered: Bool { get }
    /// Whether the client identifies itself with a token, and not with a certificate.
    var usesToken: Bool { get }
    /// The debug data of a GOAWAY, unless a script gives other data.
    var goAwayDebug: String { get }

    /// Reads a request, which becomes the latest.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - now: The time.
    ///   - random: Where a new id comes from.
    /// - Returns: The id of its answer: the client's, or a new one; empty if the API has none.
    mutating func read(
        _ request: ServerSession.Request, at now: WallTime, _ random: inout SplitMix
    ) -> ArraySlice<UInt8>

    /// Notes a PING.
    ///
    /// - Parameter openStreamCount: The number of open streams.
    /// - Returns: Whether it is one too many, so that a strict gateway ends the connection.
    mutating func isExcessivePing(withStreams openStreamCount: Int) -> Bool

    /// Returns a strict gateway's answer to the latest request.
    mutating func answer(
        to request: ServerSession.Request, id: ArraySlice<UInt8>, at now: GatewayPolicy.Now,
        sharing shared: inout GatewayState
    ) -> RequestAnswer

    /// Returns the answer to the latest request that a script specifies.
    func answer(by script: FaultAction.Answer, at now: WallTime) -> RequestAnswer

    /// Records the latest request and its outcome.
    func note(
        _ request: ServerSession.Request, id: ArraySlice<UInt8>, as arrival: Ledger.Arrival, in ledger: inout Ledger)
}
