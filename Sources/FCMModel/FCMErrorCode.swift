/// The codes in `google.firebase.fcm.v1.FcmError`, the detail of an error that says what FCM means
/// (<https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode>).
package enum FCMErrorCode: String, CaseIterable, Hashable, Sendable {
    /// No more is known.
    case unspecified = "UNSPECIFIED_ERROR"
    /// The message or its address is malformed.
    case invalidArgument = "INVALID_ARGUMENT"
    /// The app instance was unregistered: the address is gone.
    case unregistered = "UNREGISTERED"
    /// The address belongs to another project.
    case senderIDMismatch = "SENDER_ID_MISMATCH"
    /// The project, the device or the topic gets too many messages.
    case quotaExceeded = "QUOTA_EXCEEDED"
    /// The server is overloaded.
    case unavailable = "UNAVAILABLE"
    /// The server failed.
    case internalError = "INTERNAL"
    /// The key for Apple's gateway or for Web Push in the Firebase console is missing or invalid.
    case thirdPartyAuthError = "THIRD_PARTY_AUTH_ERROR"
    /// The former name of `thirdPartyAuthError`.
    case apnsAuthError = "APNS_AUTH_ERROR"
}
