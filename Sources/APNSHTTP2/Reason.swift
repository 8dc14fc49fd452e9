/// Why the gateway refused a request, in its own word (Apple, "Handling notification responses from APNs", and the
/// broadcast pages; `badEnvironmentKeyInToken` was only ever seen on the wire).
package enum Reason: String, CaseIterable, Hashable, Sendable {
    /// `apns-collapse-id` is longer than 64 bytes.
    case badCollapseID = "BadCollapseId"
    /// The token is malformed, or of the other environment.
    case badDeviceToken = "BadDeviceToken"
    /// `apns-expiration` is no usable time.
    case badExpirationDate = "BadExpirationDate"
    /// `apns-id` is no canonical UUID.
    case badMessageID = "BadMessageId"
    /// `apns-priority` is not 10, 5 or 1, or does not fit the push type.
    case badPriority = "BadPriority"
    /// The topic is invalid.
    case badTopic = "BadTopic"
    /// The token belongs to another topic.
    case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
    /// A header came twice.
    case duplicateHeaders = "DuplicateHeaders"
    /// The connection was idle for too long.
    case idleTimeout = "IdleTimeout"
    /// `apns-push-type` is unknown, or does not fit the payload.
    case invalidPushType = "InvalidPushType"
    /// The path names no token.
    case missingDeviceToken = "MissingDeviceToken"
    /// The credentials need a topic and there is none.
    case missingTopic = "MissingTopic"
    /// There is no payload.
    case payloadEmpty = "PayloadEmpty"
    /// The credentials are not allowed this topic.
    case topicDisallowed = "TopicDisallowed"
    /// Broadcast is not switched on for the app.
    case featureNotEnabled = "FeatureNotEnabled"
    /// Broadcast without a channel.
    case missingChannelID = "MissingChannelId"
    /// The channel's id is malformed.
    case badChannelID = "BadChannelId"
    /// The channel does not exist.
    case channelNotRegistered = "ChannelNotRegistered"
    /// A header of a broadcast is unusable.
    case badRequestParams = "BadRequestParams"
    /// The body of a broadcast is unusable.
    case badRequestPayload = "BadRequestPayload"
    /// Broadcast without a push type.
    case missingPushType = "MissingPushType"
    /// The app has as many channels as it may.
    case cannotCreateChannelConfig = "CannotCreateChannelConfig"
    /// The certificate is invalid.
    case badCertificate = "BadCertificate"
    /// The certificate is of the other environment.
    case badCertificateEnvironment = "BadCertificateEnvironment"
    /// The provider token was signed more than an hour ago, or in the future.
    case expiredProviderToken = "ExpiredProviderToken"
    /// The credentials do not allow this.
    case forbidden = "Forbidden"
    /// The provider token is malformed, wrongly signed, or of a key, team or topic that do not belong together.
    case invalidProviderToken = "InvalidProviderToken"
    /// Neither a certificate nor a provider token.
    case missingProviderToken = "MissingProviderToken"
    /// The connection is bound to another key since its first push.
    case unrelatedKeyIDInToken = "UnrelatedKeyIdInToken"
    /// The key is limited to the other environment, in the spelling of the documentation.
    case badEnvironmentKeyIDInToken = "BadEnvironmentKeyIdInToken"
    /// The key is limited to the other environment, in the spelling that gateways use.
    case badEnvironmentKeyInToken = "BadEnvironmentKeyInToken"
    /// The credentials do not cover the bundle id in the path of a broadcast.
    case topicMismatch = "TopicMismatch"
    /// The path is wrong.
    case badPath = "BadPath"
    /// The method is not `POST`.
    case methodNotAllowed = "MethodNotAllowed"
    /// The app is gone from the device.
    case unregistered = "Unregistered"
    /// The token has expired.
    case expiredToken = "ExpiredToken"
    /// The payload is too long.
    case payloadTooLarge = "PayloadTooLarge"
    /// A new provider token came less than 20 minutes after the one before.
    case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
    /// Too many requests for one token.
    case tooManyRequests = "TooManyRequests"
    /// The gateway failed.
    case internalServerError = "InternalServerError"
    /// The gateway is unavailable.
    case serviceUnavailable = "ServiceUnavailable"
    /// This server is going away.
    case shutdown = "Shutdown"
}

extension Reason {
    private static let byName: [String: Reason] = {
        var table = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })
        // Apple's broadcast table prints it with a space.
        table["Service Unavailable"] = .serviceUnavailable
        return table
    }()

    /// Looks a reason up as the wire tells it.
    ///
    /// - Returns: `nil` for a word that is not in Apple's tables.
    package init?(name: some StringProtocol) {
        guard let reason = Self.byName[String(name)] else { return nil }
        self = reason
    }

    /// Looks a pair of status and reason up as the wire tells it.
    ///
    /// - Returns: `nil` for a word that is not in Apple's tables, or stands there beside another status: what to do is
    ///   for the status to say then.
    package init?(status: Int, name: some StringProtocol) {
        self.init(name: name)
        guard self.status == status else { return nil }
    }
}
