package import PushModel

/// The events that a gateway reports to its owner, in the order in which they happened.
package enum GatewayEvent: Sendable {
    /// Notifications have outcomes.
    case settled([Settlement])
    /// Notifications counted as accepted were not, and are resent.
    case reopened([Batch])
    /// The gateway did not process these announced notifications. They are announced again before they are resent.
    case withdrawn([Batch])
    /// These notifications are next to be written and wait for `PushGateway.announced`. Once written, they must never
    /// be resent.
    case announcing([Batch])
    /// For each of these jobs, the number of notifications that back off, or did and now wait to be resent. If a job has too
    /// many, the owner must not submit more of it.
    case paused([JobID: Int])
    /// A connection is ready to send.
    case connected(String)
    /// The gateway answers but accepts nothing, or nothing for so long. Reported at once, and rarely after that.
    case troubled(GatewayFault, pause: Duration?)
    /// The gateway refuses this job as if the app were at fault. The job is on hold, and asks again after the pause; `nil`:
    /// only one of its notifications is refused, and pauses.
    case refusedJob(JobID, GatewayFault, Duration?)
    /// A connection ended or could not be opened.
    case disconnected(ConnectionReport)
    /// Every notification of the app fails the same way. Sending stops until the credentials change or the pause ends.
    case stopped(GatewayFault, IdentityTrial.Stop)
    /// The pause of a stop has ended, or the configuration changed. One notification tests whether the gateway accepts
    /// again.
    case trying
    /// Sending resumed after a stop: the gateway accepted a notification.
    case resumed
    /// Most answers report bad tokens and nothing was ever accepted: probably the wrong environment.
    case suspectEnvironment
}

/// Asked before each write to a connection whether the owner may still act. Must be cheap, and is called on the reactor.
///
/// While it answers no, connections stay open and nothing is written.
package typealias ActPermit = @Sendable () -> Bool

/// Whether the gateway's owner durably records outcomes. If so, the gateway waits for the records.
package enum RecordKeeping: Hashable, Sendable {
    /// Nothing is recorded. The gateway does not wait for records and announces nothing.
    case none
    /// The owner calls `PushGateway.recorded` for settled notifications and `PushGateway.announced` for announced ones.
    ///
    /// Up to `group` outcomes may be reported but unrecorded on top of a full window; more than that count against the
    /// window. If the owner crashes, at most the windows plus this group are sent twice.
    case durable(group: Int)
}

/// A failure of a connection or of the app, as text for a log.
package struct GatewayFault: Error, Hashable, Sendable {
    /// What went wrong.
    package let message: String
    /// How to fix it, if known.
    package let hint: String?

    /// Creates a fault from a message and an optional hint.
    package init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
    }

    /// Creates the fault for a peer that ended a connection right after the handshake without ever accepting anything
    /// from these credentials.
    static func unwanted(_ message: String) -> GatewayFault {
        GatewayFault(message, hint: "check the certificate: it is probably for the other environment, or revoked")
    }
}

/// The effect of a connection's end on the notifications on it.
package struct ConnectionReport: Sendable {
    /// Why it ended.
    package var fault: GatewayFault
    /// The pause before the next attempt.
    package var pause: Duration
    /// The number of resent notifications that the gateway cannot have accepted.
    package var resentCount: Int
    /// The number of resent notifications that may have been accepted: possible duplicates.
    package var doubtfulCount: Int
    /// The number of notifications with the outcome `unknown`, which are not resent.
    package var unknownCount: Int
    /// The number of resent notifications that had counted as accepted.
    package var revokedCount: Int
    /// The number of notifications that the gateway discarded too late to resend them.
    package var lostCount: Int
    /// The new limit of notifications without an outcome on a connection, if it was lowered.
    package var window: Int?
    /// Whether the end is routine: a reply to one notification, or a gateway that closes for its own reasons.
    package var isRoutine: Bool
}
