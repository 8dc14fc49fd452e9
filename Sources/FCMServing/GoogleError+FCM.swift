import FCMModel

/// FCM's errors with the texts that were seen in its answers.
extension GoogleError {
    private static let host = "fcm.googleapis.com"
    private static let method = Violation("method", "google.firebase.fcm.v1.FcmService.SendMessage")
    private static let service = Violation("service", host)
    private static let expected =
        "Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project."

    /// The app instance was unregistered.
    package static let unregistered = GoogleError(404, "Requested entity was not found.", .fcm(.unregistered))
    /// The address belongs to another project.
    package static let senderIDMismatch = GoogleError(403, "SenderId mismatch", .fcm(.senderIDMismatch))
    /// FCM has no valid key for Apple's gateway or for Web Push.
    package static let thirdPartyAuthError = GoogleError(
        401, "Auth error from APNS or Web Push Service", .fcm(.thirdPartyAuthError),
        .apns(status: 403, reason: "InvalidProviderToken"))
    /// FCM failed.
    package static let internalError = GoogleError(500, "Internal error encountered.", .fcm(.internalError))
    /// FCM is overloaded.
    package static let unavailable = GoogleError(503, "The service is currently unavailable.", .fcm(.unavailable))

    /// The request has no access token.
    package static let credentialsMissing = GoogleError(
        401, "Request is missing required authentication credential. " + expected,
        .errorInfo(reason: "CREDENTIALS_MISSING", domain: "googleapis.com", metadata: [method, service]))
    /// The access token was never issued.
    package static let credentialsInvalid = GoogleError(
        401, "Request had invalid authentication credentials. " + expected)
    /// The access token has expired.
    package static let accessTokenExpired = GoogleError(
        401, "Request had invalid authentication credentials. " + expected,
        .errorInfo(reason: "ACCESS_TOKEN_EXPIRED", domain: "googleapis.com", metadata: [service, method]))
    /// The access token is for other APIs.
    package static let scopeInsufficient = GoogleError(
        403, "Request had insufficient authentication scopes.",
        .errorInfo(
            reason: "ACCESS_TOKEN_SCOPE_INSUFFICIENT", domain: "googleapis.com", metadata: [service, method]))

    /// The API is not enabled in a project, which the text names by its number.
    package static func serviceDisabled(inProject number: String) -> GoogleError {
        let place = "https://console.developers.google.com/apis/api/\(host)/overview?project=\(number)"
        return GoogleError(
            403,
            "Firebase Cloud Messaging API has not been used in project \(number) before or it is disabled. Enable it by visiting \(place) then retry. If you enabled this API recently, wait a few minutes for the action to propagate to our systems and retry.",
            .errorInfo(
                reason: "SERVICE_DISABLED", domain: "googleapis.com",
                metadata: [service, Violation("consumer", "projects/\(number)")]))
    }

    /// The service account may not send for the project, or there is no such project.
    package static func permissionDenied(inProject project: String) -> GoogleError {
        let permission = "cloudmessaging.messages.create"
        return GoogleError(
            403,
            "Permission '\(permission)' denied on resource '//cloudresourcemanager.googleapis.com/projects/\(project)' (or it may not exist).",
            .errorInfo(
                reason: "IAM_PERMISSION_DENIED", domain: "cloudresourcemanager.googleapis.com",
                metadata: [Violation("resource", "projects/\(project)"), Violation("permission", permission)]))
    }

    /// A quota is used up.
    package static func quotaExceeded(_ quota: Quota, of subject: String) -> GoogleError {
        GoogleError(
            429, quota.message, .fcm(.quotaExceeded),
            .quotaFailure([Violation("\(quota.rawValue):\(subject)", quota.message)]))
    }

    /// What a quota is for.
    package enum Quota: String, CaseIterable, Hashable, Sendable {
        /// All messages of a project.
        case project
        /// The messages to a device.
        case device
        /// The messages to a topic.
        case topic

        fileprivate var message: String {
            switch self {
            case .project: "Quota exceeded for quota metric 'Send requests' and limit 'Send requests per minute'."
            case .device: "Device message rate quota exceeded."
            case .topic: "Topic quota exceeded."
            }
        }
    }

    /// The message is malformed in a way that FCM does not tell, such as a condition with a fault.
    package static let invalidArgument = GoogleError(400, "Request contains an invalid argument.")

    /// Returns an error by its reason.
    ///
    /// - Parameters:
    ///   - reason: A code of FCM's, a reason of `ErrorInfo`, the name of a status, or any other word, which becomes a code of
    ///     FCM's.
    ///   - project: The project of the request.
    /// - Returns: The error as FCM writes it.
    package static func named(_ reason: String, inProject project: String) -> GoogleError {
        switch reason {
        case "CREDENTIALS_MISSING": return .credentialsMissing
        case "ACCESS_TOKEN_EXPIRED": return .accessTokenExpired
        case "ACCESS_TOKEN_SCOPE_INSUFFICIENT": return .scopeInsufficient
        case "SERVICE_DISABLED": return .serviceDisabled(inProject: project)
        case "IAM_PERMISSION_DENIED": return .permissionDenied(inProject: project)
        case "UNAUTHENTICATED": return .credentialsInvalid
        default: break
        }
        switch FCMErrorCode(rawValue: reason) {
        case .unregistered: return .unregistered
        case .senderIDMismatch: return .senderIDMismatch
        case .thirdPartyAuthError: return .thirdPartyAuthError
        case .internalError: return .internalError
        case .unavailable: return .unavailable
        case .quotaExceeded: return .quotaExceeded(.project, of: project)
        case .invalidArgument: return GoogleError(400, "Request contains an invalid argument.", .fcm(.invalidArgument))
        case .apnsAuthError: return GoogleError(401, "Auth error from APNS", .fcm(.apnsAuthError))
        case .unspecified, nil: return GoogleError(400, "Unknown Error.", .fcm(code: reason))
        }
    }
}
