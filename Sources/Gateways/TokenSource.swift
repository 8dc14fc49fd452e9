package import PushModel

/// A text that lets its bearer send, for a while. Two are the same if the texts are.
package struct BearerToken: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The value of the header `authorization`. A secret.
    package let authorization: String

    /// Creates a token from the value of its header.
    package init(authorization: String) { self.authorization = authorization }

    /// Always `<redacted>`.
    package var description: String { "<redacted>" }

    /// Hides the token from `dump`.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Where connections get the token that their requests carry: one at a time, for all connections that share the source.
package protocol TokenSource: Sendable {
    /// Whether a new token takes the answer of another server, which may be long in coming.
    var isRemote: Bool { get }

    /// Returns the token in memory, if it may be used now; on `nil`, call `current(at:)`.
    ///
    /// Call it on any thread, before each write: it only takes a lock briefly.
    func token(at now: WallTime) -> BearerToken?

    /// Returns the token to use now, a new one if need be.
    ///
    /// - Throws: `AccountRefusal` if there will be no token until the account, its key or the clock is mended: stop the app.
    ///   `GatewayFault` when there is none now: try again later. `CancellationError`.
    func current(at now: WallTime) async throws -> BearerToken

    /// Returns the token to use after a gateway called `failed` invalid or expired, although its time has not run out.
    ///
    /// - Throws: As `current(at:)`.
    func renew(after failed: BearerToken, at now: WallTime) async throws -> BearerToken
}

/// Why an account gets no token, or why its tokens are not accepted, until somebody mends that.
package struct AccountRefusal: Error, Hashable, Sendable {
    /// What went wrong, with a hint for the operator.
    package let fault: GatewayFault
}
