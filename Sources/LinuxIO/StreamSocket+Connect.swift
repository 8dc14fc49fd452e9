extension StreamSocket {
    /// Connects to the first of `addresses` that answers.
    ///
    /// Tries the addresses in order, alternating IPv6 and IPv4. Starts the next attempt after 250 ms or as soon as one
    /// fails, without giving up those under way (RFC 8305).
    ///
    /// - Parameters:
    ///   - addresses: in order of preference, at least one.
    ///   - reactor: where the socket will live; the caller must run on it.
    ///   - deadline: when to give up all attempts.
    /// - Returns: the connected socket.
    /// - Throws: `ConnectError` if none answered; trying again later may succeed. `CancellationError`.
    package static func connect(
        toAnyOf addresses: [SocketAddress], on reactor: Reactor, until deadline: ContinuousClock.Instant
    ) async throws -> sending StreamSocket {
        let race = try ConnectRace(among: addresses, on: reactor)
        return try StreamSocket(adopting: try await race.winner(until: deadline), on: reactor)
    }

    /// Connects to one address.
    ///
    /// - Throws: `ConnectError` if it refused or did not answer in time; `CancellationError`.
    package static func connect(
        to address: SocketAddress, on reactor: Reactor, until deadline: ContinuousClock.Instant
    ) async throws -> sending StreamSocket {
        try await connect(toAnyOf: [address], on: reactor, until: deadline)
    }
}

/// The failure to connect to any address of a host: one error per address tried.
package struct ConnectError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error of each address, in the order of failure; ETIMEDOUT for those that did not answer.
    package let attempts: [SystemError]

    /// One line: `connect [::1]:2195: Connection refused (ECONNREFUSED); connect 127.0.0.1:2195: …`.
    package var description: String {
        attempts.map(\.description).joined(separator: "; ")
    }
}
