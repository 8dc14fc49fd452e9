import CLinux
import Glibc

extension StreamSocket {
    /// Connects to the first of `addresses` that answers.
    ///
    /// Tries them in turn, IPv6 and IPv4 alternating, a new one every 250 ms or as soon as one fails, without giving up
    /// those under way (RFC 8305).
    ///
    /// - Parameters:
    ///   - addresses: in order of preference, at least one.
    ///   - reactor: where the socket will live; the caller must run on it.
    ///   - deadline: when to give all of them up.
    /// - Returns: the connected socket.
    /// - Throws: `ConnectError` when none answered: it is worth trying again later; `CancellationError`.
    package static func connect(
        toAnyOf addresses: [SocketAddress], on reactor: Reactor, until deadline: ContinuousClock.Instant
    ) async throws -> sending StreamSocket {
        let race = try ConnectRace(among: addresses, on: reactor)
        return try StreamSocket(adopting: try await race.winner(until: deadline), on: reactor)
    }

    /// Connects to one address.
    ///
    /// - Throws: `ConnectError` when it did not answer in time or refused; `CancellationError`.
    package static func connect(
        to address: SocketAddress, on reactor: Reactor, until deadline: ContinuousClock.Instant
    ) async throws -> sending StreamSocket {
        try await connect(toAnyOf: [address], on: reactor, until: deadline)
    }
}

/// Why no address of a host could be connected to: one error per address tried.
package struct ConnectError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What each address said, in the order of failing; ETIMEDOUT for those that said nothing.
    package let attempts: [SystemError]

    /// One line: `connect [::1]:2195: Connection refused (ECONNREFUSED); connect 127.0.0.1:2195: …`.
    package var description: String {
        attempts.map(\.description).joined(separator: "; ")
    }
}
