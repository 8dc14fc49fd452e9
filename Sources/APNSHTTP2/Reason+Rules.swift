package import APNSModel
package import PushHTTP2
package import PushModel

extension Reason {
    /// The table's entry for a reason.
    private struct Rule {
        let status: Int
        let failureClass: FailureClass

        init(_ status: Int, _ failureClass: FailureClass) {
            self.status = status
            self.failureClass = failureClass
        }
    }

    /// The table. The tests compare it with Tests/Fixtures/http2-reasons.json. The classes are our reading of Apple's
    /// retry rules.
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

    /// Its HTTP status.
    package var status: Int { rule.status }

    /// The class of the failure.
    package var failureClass: FailureClass { rule.failureClass }

    /// The class of the failure when the same notification gets the same reason again right after a retry on a new
    /// connection and, for `expiredProviderToken`, with a fresh token.
    package var failureClassWhenRepeated: FailureClass {
        switch self {
        case .expiredProviderToken, .unrelatedKeyIDInToken: .app
        case .shutdown: .serverError
        case .idleTimeout: .retryLater
        default: failureClass
        }
    }

    /// What it is about, as far as its class does not say it.
    package var concerns: Reply.Concerns {
        switch self {
        case .badTopic, .missingTopic, .deviceTokenNotForTopic: .topic
        case .topicDisallowed: [.topic, .connection]
        case .topicMismatch: [.broadcasting, .connection]
        case .featureNotEnabled, .cannotCreateChannelConfig: .broadcasting
        case .expiredProviderToken: [.authorization, .credentials]
        case .unrelatedKeyIDInToken: .credentials
        case .tooManyProviderTokenUpdates: .authorizationChanges
        default: []
        }
    }

    /// The remedy for the operator, for the reasons that stop an app.
    package var hint: String? {
        switch self {
        case .badTopic, .missingTopic, .topicDisallowed, .topicMismatch:
            "set topic: to the bundle identifier that these credentials are for"
        case .badCertificate: "get a new certificate issued for the app: this one is invalid, expired or revoked"
        case .badCertificateEnvironment: "set environment: to that of the certificate, or use a certificate for both"
        case .expiredProviderToken: "set this machine's clock: the gateway rejects tokens older than an hour"
        case .invalidProviderToken: "check that key_id, team_id and the key file belong together"
        case .missingProviderToken: "give the app credentials: a certificate, or a key with its key_id and team_id"
        case .unrelatedKeyIDInToken: "check key_id: the gateway knows the topic under another key"
        case .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken:
            "set environment: to that of the key, or create a key for both environments"
        case .forbidden: "check these credentials at the developer account: they are not allowed to send"
        case .featureNotEnabled: "switch broadcast on for the app at the developer account"
        case .cannotCreateChannelConfig: "delete unused channels: the app has reached the limit"
        default: nil
        }
    }
}

extension FailureClass {
    /// Creates the class of a refusal whose reason is not in the table, from its status.
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

extension Reason {
    /// Looks a pair of status and reason up by the reason's name on the wire.
    ///
    /// - Returns: `nil` for a name that is not in Apple's tables, or has another status there. In that case the status
    ///   alone determines how to proceed.
    package init?(status: Int, name: some StringProtocol) {
        self.init(name: name)
        guard self.status == status else { return nil }
    }
}
