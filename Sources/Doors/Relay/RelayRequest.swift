/// A request that waits until its job was dropped.
struct RelayRequest: Sendable {
    /// The number of its connection.
    let connection: Int
    /// The stream to answer on.
    let stream: UInt32
    /// The id to answer with, as the client spelled it.
    let id: [UInt8]
    /// Whether it is a broadcast, whose id has another field.
    let isBroadcast: Bool
}

/// What a relay has done since its start.
struct RelayCounts: Sendable {
    /// Connections accepted, and those refused because there were too many.
    var (connectionCount, refusedConnectionCount) = (0, 0)
    /// Whole requests, those answered with 200, and those answered without being spooled again.
    var (requestCount, acceptedCount, repeatedCount) = (0, 0, 0)
    /// Requests that were refused, by their reasons.
    var refusals: [String: Int] = [:]
    /// Violations of the protocol.
    var violationCount = 0
    /// Jobs dropped, and the time that the last took in nanoseconds.
    var jobCount = 0
}
