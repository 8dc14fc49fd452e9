import APNSModel
import FCMModel
import PushModel

/// The reasons that are counted by name: those in Apple's and Google's tables, and the daemon's own.
///
/// A gateway may send any text. Unknown reasons count as `other`, so that a peer cannot increase the number of time series.
package enum KnownReason {
    /// The name under which all unknown reasons count.
    package static let other = "other"

    /// Returns the name under which a reason counts.
    package static func name(of reason: String) -> String {
        names.contains(reason) ? reason : other
    }

    private static let names = Set(Reason.allCases.map(\.rawValue))
        .union(LocalReason.allCases.map(\.rawValue)).union(ofBinaryProtocol)
        .union(FCMErrorCode.allCases.map(\.rawValue)).union(ofGoogle)

    /// The reasons in Google's answers that are not FCM's own.
    private static let ofGoogle = [
        "UNAUTHENTICATED", "CREDENTIALS_MISSING", "ACCESS_TOKEN_EXPIRED", "PERMISSION_DENIED", "SERVICE_DISABLED",
        "IAM_PERMISSION_DENIED", "NOT_FOUND", "RESOURCE_EXHAUSTED",
    ]

    /// The reasons of the binary protocol that HTTP/2 does not have.
    private static let ofBinaryProtocol = [
        "NoError", "ProcessingError", "InvalidTokenSize", "InvalidTopicSize", "ProtocolError", "Unknown",
    ]
}
