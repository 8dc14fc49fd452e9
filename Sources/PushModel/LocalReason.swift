/// The reasons that the program gives where no gateway has answered. They stand in feedback lines and metrics beside Apple's
/// own, which ``Reason`` lists.
package enum LocalReason: String, CaseIterable, Hashable, Sendable {
    /// The payload in the job's file is not valid.
    case badPayload = "BadPayload"
    /// Another value in the job's file is not valid.
    case badValue = "BadValue"
    /// An operator cancelled the job.
    case cancelled = "Cancelled"
    /// A gateway of the binary protocol closed the connection over a notification without an error frame.
    case closedWithoutReply = "ClosedWithoutReply"
    /// The job's time was up.
    case givenUp = "GivenUp"
    /// The rest of the job's file could not be read.
    case jobUnreadable = "JobUnreadable"
    /// The gateway's name led to a door of the daemon's own spool.
    case ownDoor = "OwnDoor"
    /// The requests were never answered.
    case noAnswer = "NoAnswer"
    /// The gateway kept refusing the streams.
    case refusedStream = "RefusedStream"
    /// The token is unregistered, and the app does not send to such tokens.
    case suppressed = "Suppressed"
}

extension Refusal {
    /// Creates a refusal that no gateway has sent.
    package init(_ reason: LocalReason, _ verdict: Verdict, goneSince: WallTime? = nil) {
        self.init(status: nil, reason: reason.rawValue, verdict: verdict, goneSince: goneSince)
    }
}
