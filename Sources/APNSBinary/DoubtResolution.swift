package import PushModel

/// How a connection ended.
package enum ConnectionEnd: Hashable, Sendable {
    /// The gateway refused a notification, or announced that it shuts down, and closed.
    case reply(ErrorReply)
    /// The connection was lost without an answer after the kernel took the first `handedOver` bytes of the stream.
    case silent(handedOver: UInt64)
    /// The peer refused the connection itself, right after the handshake, before it accepted anything.
    case refused
}

/// The conclusions from the end of a connection about the notifications it had in doubt.
package struct DoubtResolution: Sendable {
    /// The notifications whose outcome is now certain, or `unknown` because of their policy for doubt.
    package var settlements: [Settlement] = []
    /// The notification that the gateway named, unless it was accepted. The status and its tries determine whether it
    /// is retried.
    package var named: Batch?
    /// The status it was named with.
    package var status: Status?
    /// Whether the named notification had counted as accepted.
    package var isCorrection = false
    /// The notifications to resend, in their original order, after `named` if that is retried.
    package var tail: [Batch] = []
    /// How many of the tail may have been accepted: possible duplicates.
    package var doubtfulCount = 0
    /// The notifications of the tail that had counted as accepted and were not. They come first in it.
    package var revoked: [Batch] = []
    /// The number of notifications in `revoked`.
    package var revokedCount: Int { revoked.notificationCount }
    /// The number of discarded notifications that counted as accepted and are too old to be in memory for a resend.
    package var lostCount = 0
    /// Whether an unknown one of the tail was refused. The tail must then be sent in small groups.
    package var hidesRefusal = false

    /// Creates an empty resolution.
    package init() {}
}
