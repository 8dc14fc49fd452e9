import APNSHTTP2

/// The reasons that are counted by their names: those of Apple's tables, and our own.
///
/// A gateway may say anything. What is not known counts as `other`, so that a peer does not decide how many numbers there
/// are.
package enum KnownReason {
    /// What counts for all that are not known.
    package static let other = "other"

    /// The name that a reason counts by.
    package static func name(of reason: String) -> String {
        names.contains(reason) ? reason : other
    }

    private static let names = Set(APNSHTTP2.Reason.allCases.map(\.rawValue))
        .union(Reason.allCases.map(\.rawValue)).union(further)

    /// Of the binary protocol, of what is given up, and of what is not sent because its token is gone.
    private static let further = [
        "NoError", "ProcessingError", "InvalidTokenSize", "InvalidTopicSize", "ProtocolError", "Unknown",
        "ClosedWithoutReply", "Cancelled", "GivenUp", "JobUnreadable", "NoAnswer", "RefusedStream", "Suppressed",
    ]
}
