package import APNSModel

/// What a gateway tells its owner, in the order in which it happened.
package enum GatewayEvent: Sendable {
    /// Notifications have outcomes.
    case settled([Settlement])
    /// Notifications that had been taken for accepted were not, and are sent again.
    case reopened([Batch])
    /// The gateway has not processed these, which were announced: they are announced again before they are sent again.
    case withdrawn([Batch])
    /// These are next to be written, and wait for `PushGateway.announced`: once written they must never be sent again.
    case announcing([Batch])
    /// How many notifications of these jobs pause now, or have paused and wait to be sent again. Their owner is to hand over
    /// no more of a job of which too many do.
    case paused([JobID: Int])
    /// A connection is ready to send.
    case connected(String)
    /// The gateway answers, and takes nothing: told at first, and then rarely.
    case troubled(GatewayFault)
    /// A connection ended, or did not come about.
    case disconnected(ConnectionReport)
    /// Every message of the app fails the same way: nothing is sent until the credentials change or the time is up.
    case stopped(GatewayFault)
    /// The time of a stop is up, or there is another configuration: one notification is to show whether the gateway takes
    /// them again.
    case trying
    /// Sending goes on after a stop: the gateway has accepted something.
    case resumed
    /// Most answers are bad tokens and nothing was ever accepted: probably the wrong environment.
    case suspectEnvironment
}

/// Whether a gateway's owner records for good what becomes of notifications, and what the gateway waits for then.
package enum RecordKeeping: Hashable, Sendable {
    /// Nothing is recorded: the gateway waits for nothing, and announces nothing.
    case none
    /// The owner calls `PushGateway.recorded` for what was settled, and `PushGateway.announced` for what was announced.
    ///
    /// So many outcomes may be told and not recorded, besides a full window; what is beyond that takes up room in it. No
    /// death of the owner then makes more notifications be sent twice than the windows and this group hold.
    case durable(group: Int)
}

/// A fault of a connection or of the app, in words for a log.
package struct GatewayFault: Error, Hashable, Sendable {
    /// What went wrong.
    package let message: String
    /// How to mend it, where that can be told.
    package let hint: String?

    /// Creates a fault.
    package init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
    }

    /// A peer that ended a connection right after the handshake, before it ever took anything of these credentials.
    static func unwanted(_ message: String) -> GatewayFault {
        GatewayFault(message, hint: "the certificate is probably of the other environment, or was revoked")
    }
}

/// What the end of a connection meant for the notifications on it.
package struct ConnectionReport: Sendable {
    /// Why it ended.
    package var fault: GatewayFault
    /// How long until the next attempt.
    package var pause: Duration
    /// How many notifications are sent again that the gateway cannot have accepted.
    package var resentCount: Int
    /// How many are sent again though they may have been accepted: possible duplicates.
    package var doubtfulCount: Int
    /// How many will not be sent again, their outcome being `unknown`.
    package var unknownCount: Int
    /// How many are sent again that had been taken for accepted.
    package var revokedCount: Int
    /// How many were thrown away by the gateway so late that they cannot be sent again.
    package var lostCount: Int
    /// How many notifications a connection may have without an outcome from now on, if that is fewer than before.
    package var window: Int?
    /// Whether it is everyday business: an answer to one notification, or a gateway that closes for its own reasons.
    package var isRoutine: Bool
}
