import DoorModel
import SecureTransport

/// The places for the connections to a relay. While all are taken, a new client gets that of the oldest one that has not
/// proved who it is.
struct RelayPlaces {
    /// The connections after their handshake.
    var connections: [Int: RelayConnection] = [:]
    /// The streams of the connections, also during the handshake, but not of those that had to leave.
    private var streams: [Int: SecureStream] = [:]
    /// How many places are taken, also by those that had to leave and have not ended yet.
    private var takenCount = 0
    private var lastNumber = 0

    /// How many connections may be beyond the limit until those that had to leave have ended.
    private static let leavingLimit = 128

    /// Admits a new connection, if there is a place.
    ///
    /// - Returns: The number of the connection; `nil` if there is no place.
    mutating func admit(within limit: Int, _ counts: inout DoorCounts) -> Int? {
        guard takenCount < limit + Self.leavingLimit else { return nil }
        if streams.count >= limit {
            let strangers = streams.keys.filter { connections[$0]?.isKnown != true }
            guard let oldest = strangers.min(), let stream = streams.removeValue(forKey: oldest) else { return nil }
            counts.refusedConnectionCount += 1
            stream.abort()
            stream.wake()
        }
        takenCount += 1
        lastNumber += 1
        return lastNumber
    }

    /// Notes the stream of a connection.
    mutating func seat(_ stream: SecureStream, _ number: Int) { streams[number] = stream }

    /// Frees the place of a connection that has ended.
    mutating func leave(_ number: Int) {
        takenCount -= 1
        (streams[number], connections[number]) = (nil, nil)
    }
}
