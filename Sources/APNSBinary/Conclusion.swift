package import APNSModel

/// How a connection ended.
package enum ConnectionEnd: Hashable, Sendable {
    /// The gateway refused a notification, or said that it shuts down, and closed.
    case reply(ErrorReply)
    /// The connection is gone without an answer. `handedOver`: how many bytes of the stream the kernel took.
    case silent(handedOver: UInt64)
    /// The peer refused the connection itself, right after the handshake, before anything was accepted on it.
    case refused
}

/// What the end of a connection proves about the notifications it had in doubt.
package struct Conclusion: Sendable {
    /// Those whose outcome is now certain, or `unknown` by their own wish.
    package var settlements: [Settlement] = []
    /// The one that the gateway named, unless it was accepted; what becomes of it depends on the status and its tries.
    package var named: Batch?
    /// Why it was named.
    package var status: Status?
    /// Whether the named one had been taken for accepted before.
    package var isCorrection = false
    /// Those to be sent again, in their original order, after `named` if that is tried again.
    package var tail: [Batch] = []
    /// How many of the tail may have been accepted all the same: possible duplicates.
    package var doubtfulCount = 0
    /// Those of the tail that had been taken for accepted before, and were not; they come first in it.
    package var revoked: [Batch] = []
    /// How many of the tail those are.
    package var revokedCount: Int { revoked.notificationCount }
    /// How many were taken for accepted so long ago that nobody can send them again, though they were thrown away.
    package var lostCount = 0
    /// Whether one of the tail was refused and nobody knows which: the tail must be sent in small groups.
    package var hidesRefusal = false

    /// Creates a conclusion that says nothing.
    package init() {}
}
