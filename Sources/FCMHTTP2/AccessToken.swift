package import PushModel

/// A token that lets its bearer send for a project, for about an hour (RFC 6750). Never printed.
package struct AccessToken: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The state of a token at a given time.
    package enum State: Hashable, Sendable {
        /// Use it.
        case current
        /// Use it, and fetch the next one.
        case due
        /// Google refuses it.
        case expired
        /// It was fetched in the future, because the clock was set back since: its age is unknown.
        case fromFuture
    }

    /// The longest token that is taken, in bytes. Google's have about 1,024, and may have 2,048.
    package static let byteLimit = 4096
    /// The age below which Google's refusal of a token blames the account or the clock, in seconds.
    package static let freshAge: Int64 = 60
    /// The least time that a stored token must be valid to be worth using, in seconds.
    package static let leastRest: Int64 = 300
    /// How far a clock may be set back before tokens count as fetched in the future, in seconds.
    private static let tolerance: Int64 = 60

    /// The token. A secret.
    package let text: String
    /// When it was asked for, in seconds since 1970.
    package let fetchedAt: Int64
    /// When it expires, in seconds since 1970.
    package let expiresAt: Int64
    /// When the next one is due, in seconds since 1970: after 45 to 55 minutes of an hour, at random, so that the processes
    /// of a cluster do not ask all at once.
    package let renewsAt: Int64

    /// Creates a token; `nil` unless the text can stand in a header field, and the times are possible.
    ///
    /// - Parameters:
    ///   - text: The token, as Google gave it.
    ///   - fetchedAt: When it was asked for, in seconds since 1970.
    ///   - lifetime: How long it is valid, in seconds.
    ///   - random: The source of the spread.
    package init?(
        _ text: String, fetchedAt: Int64, lifetime: Int64, using random: inout some RandomNumberGenerator
    ) {
        let (expiresAt, isAbsurd) = fetchedAt.addingReportingOverflow(lifetime)
        guard (1...Self.byteLimit).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            (1...86_400).contains(lifetime), !isAbsurd, fetchedAt >= 0
        else { return nil }
        (self.text, self.fetchedAt, self.expiresAt) = (text, fetchedAt, expiresAt)
        renewsAt = fetchedAt + Int64.random(in: lifetime * 45 / 60...lifetime * 55 / 60, using: &random)
    }

    /// Creates a token from what `stored` told; `nil` for anything else.
    package init?(stored bytes: [UInt8], using random: inout some RandomNumberGenerator) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard lines.count == 4, lines[3].isEmpty, let fetchedAt = Int64(lines[1]), let expiresAt = Int64(lines[2])
        else { return nil }
        let (lifetime, isAbsurd) = expiresAt.subtractingReportingOverflow(fetchedAt)
        guard !isAbsurd else { return nil }
        self.init(lines[0], fetchedAt: fetchedAt, lifetime: lifetime, using: &random)
    }

    /// What a file keeps of the token: three lines, with the text and the seconds since 1970 at which it was asked for and at
    /// which it expires. A secret.
    package var stored: [UInt8] { Array("\(text)\n\(fetchedAt)\n\(expiresAt)\n".utf8) }

    /// The value of the header `authorization`. A secret.
    package var authorization: String { "Bearer " + text }

    /// The time at which it expires; no part of the token.
    package var description: String { "access token until \(WallTime(epochSeconds: expiresAt).rfc3339)" }

    /// Hides the token from `dump`.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// The state of the token now.
    package func state(at now: WallTime) -> State {
        if isFromFuture(at: now) { return .fromFuture }
        if now.epochSeconds >= expiresAt { return .expired }
        return now.epochSeconds >= renewsAt ? .due : .current
    }

    /// Whether a token that another process stored is worth using.
    package func isWorthUsing(at now: WallTime) -> Bool {
        state(at: now) == .current && expiresAt - now.epochSeconds > Self.leastRest
    }

    /// Whether it is so new that another one would be refused as well. One that has expired is not.
    package func isFresh(at now: WallTime) -> Bool {
        ![.fromFuture, .expired].contains(state(at: now)) && now.epochSeconds < fetchedAt + Self.freshAge
    }

    private func isFromFuture(at now: WallTime) -> Bool { now.epochSeconds < fetchedAt - Self.tolerance }
}
