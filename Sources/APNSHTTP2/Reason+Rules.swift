package import APNSModel

extension Reason {
    /// What the table says of one reason.
    private struct Rule {
        let status: Int
        let failureClass: FailureClass

        init(_ status: Int, _ failureClass: FailureClass) {
            self.status = status
            self.failureClass = failureClass
        }
    }

    /// The table, compared with protocol/vectors/http2-reasons.json in the tests. Classes are our judgement over Apple's
    /// rules for trying again.
    private var rule: Rule {
        switch self {
        case .badCollapseID, .badExpirationDate, .badMessageID, .badPriority: Rule(400, .message)
        case .duplicateHeaders, .invalidPushType, .payloadEmpty: Rule(400, .message)
        case .missingChannelID, .badRequestParams, .badRequestPayload, .missingPushType: Rule(400, .message)
        case .badDeviceToken, .deviceTokenNotForTopic, .missingDeviceToken: Rule(400, .token)
        case .badChannelID, .channelNotRegistered: Rule(400, .token)
        case .badTopic, .missingTopic, .topicDisallowed: Rule(400, .app)
        case .featureNotEnabled, .cannotCreateChannelConfig: Rule(400, .app)
        case .idleTimeout: Rule(400, .retryNow)
        case .badCertificate, .badCertificateEnvironment, .invalidProviderToken: Rule(403, .app)
        case .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken: Rule(403, .app)
        case .forbidden, .missingProviderToken, .topicMismatch: Rule(403, .app)
        case .expiredProviderToken, .unrelatedKeyIDInToken: Rule(403, .retryNow)
        case .badPath: Rule(404, .message)
        case .methodNotAllowed: Rule(405, .message)
        case .unregistered, .expiredToken: Rule(410, .tokenGone)
        case .payloadTooLarge: Rule(413, .message)
        case .tooManyProviderTokenUpdates: Rule(429, .retryLater)
        case .tooManyRequests: Rule(429, .retryLater)
        case .internalServerError: Rule(500, .serverError)
        case .serviceUnavailable: Rule(503, .retryLater)
        case .shutdown: Rule(503, .retryNow)
        }
    }

    /// The status it comes with.
    package var status: Int { rule.status }

    /// What is at fault.
    package var failureClass: FailureClass { rule.failureClass }

    /// What is at fault when the same notification meets the same reason again at once, on a new connection and, for
    /// `expiredProviderToken`, with a token just signed.
    package var failureClassWhenRepeated: FailureClass {
        switch self {
        case .expiredProviderToken, .unrelatedKeyIDInToken: .app
        case .shutdown: .serverError
        case .idleTimeout: .retryLater
        default: failureClass
        }
    }

    /// Whether the topic is what the gateway complains about: the job's fault where the job has named a topic itself.
    package var isAboutTopic: Bool {
        switch self {
        case .badTopic, .missingTopic, .topicDisallowed, .deviceTokenNotForTopic: true
        default: false
        }
    }

    /// What a person can do, for the reasons that stop an app.
    package var hint: String? {
        switch self {
        case .badTopic, .missingTopic, .topicDisallowed, .topicMismatch:
            "set topic: to the app's bundle identifier, one that these credentials are for"
        case .badCertificate: "get a new certificate issued for the app: this one is invalid, expired or revoked"
        case .badCertificateEnvironment: "set environment: to that of the certificate, or use a certificate for both"
        case .expiredProviderToken: "set this machine's clock: a token just signed must not be older than an hour"
        case .invalidProviderToken: "check key_id, team_id and the key file: they do not belong together"
        case .missingProviderToken: "give the app credentials: a certificate, or a key with its key_id and team_id"
        case .unrelatedKeyIDInToken: "check key_id: the gateway knows the topic under another key"
        case .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken:
            "set environment: to that of the key, or create a key for both environments"
        case .forbidden: "these credentials are not allowed to send: check them at the developer account"
        case .featureNotEnabled: "switch broadcast on for the app at the developer account"
        case .cannotCreateChannelConfig: "delete channels that are not used: the app has as many as it may"
        default: nil
        }
    }
}

extension FailureClass {
    /// The class of a refusal with a reason that the table does not have: what the status says.
    package init(status: Int) {
        switch status {
        case 400, 404, 405, 413: self = .message
        case 403: self = .app
        case 410: self = .tokenGone
        case 429: self = .retryLater
        default: self = .serverError
        }
    }
}
