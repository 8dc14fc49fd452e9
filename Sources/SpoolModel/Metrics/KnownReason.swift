import APNSHTTP2

/// The reasons that are counted by name: those in Apple's tables, and the daemon's own.
///
/// A gateway may send any text. Unknown reasons count as `other`, so that a peer cannot increase the number of time series.
package enum KnownReason {
    /// The name under which all unknown reasons count.
    package static let other = "other"

    /// Returns the name under which a reason counts.
    package static func name(of reason: String) -> String {
        names.contains(reason) ? reason : other
    }

    private static let names = Set(APNSHTTP2.Reason.allCases.map(\.rawValue))
        .union(Reason.allCases.map(\.rawValue)).union(further)

    /// Reasons of the binary protocol, of notifications that were given up, and of those suppressed because the token is gone.
    private static let further = [
        "NoError", "ProcessingError", "InvalidTokenSize", "InvalidTopicSize", "ProtocolError", "Unknown",
        "ClosedWithoutReply", "Cancelled", "GivenUp", "JobUnreadable", "NoAnswer", "RefusedStream", "Suppressed",
    ]
}
