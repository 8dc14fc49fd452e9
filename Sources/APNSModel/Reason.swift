/// The gateway's reason for refusing a request (Apple, "Handling notification responses from APNs", and the broadcast
/// pages; `badEnvironmentKeyInToken` is undocumented and was only seen on the wire).
package enum Reason: String, CaseIterable, Hashable, Sendable {
    /// `apns-collapse-id` is longer than 64 bytes.
    case badCollapseID = "BadCollapseId"
    /// The token is malformed, or for the other environment.
    case badDeviceToken = "BadDeviceToken"
    /// `apns-expiration` is not a usable time.
    case badExpirationDate = "BadExpirationDate"
    /// `apns-id` is not a canonical UUID.
    case badMessageID = "BadMessageId"
    /// `apns-priority` is not 10, 5 or 1, or does not fit the push type.
    case badPriority = "BadPriority"
    /// The topic is invalid.
    case badTopic = "BadTopic"
    /// The token is for another topic.
    case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
    /// A header was sent twice.
    case duplicateHeaders = "DuplicateHeaders"
    /// The connection was idle for too long.
    case idleTimeout = "IdleTimeout"
    /// `apns-push-type` is unknown, or does not fit the payload.
    case invalidPushType = "InvalidPushType"
    /// The path has no token.
    case missingDeviceToken = "MissingDeviceToken"
    /// The credentials need a topic and none was sent.
    case missingTopic = "MissingTopic"
    /// The payload is empty.
    case payloadEmpty = "PayloadEmpty"
    /// The credentials do not allow this topic.
    case topicDisallowed = "TopicDisallowed"
    /// Broadcast is not enabled for the app.
    case featureNotEnabled = "FeatureNotEnabled"
    /// The broadcast has no channel.
    case missingChannelID = "MissingChannelId"
    /// The channel's id is malformed.
    case badChannelID = "BadChannelId"
    /// The channel does not exist.
    case channelNotRegistered = "ChannelNotRegistered"
    /// A header of a broadcast is invalid.
    case badRequestParams = "BadRequestParams"
    /// The body of a broadcast is invalid.
    case badRequestPayload = "BadRequestPayload"
    /// The broadcast has no push type.
    case missingPushType = "MissingPushType"
    /// The app has reached its maximum number of channels.
    case cannotCreateChannelConfig = "CannotCreateChannelConfig"
    /// The certificate is invalid.
    case badCertificate = "BadCertificate"
    /// The certificate is for the other environment.
    case badCertificateEnvironment = "BadCertificateEnvironment"
    /// The provider token was signed more than an hour ago, or in the future.
    case expiredProviderToken = "ExpiredProviderToken"
    /// The credentials do not allow this.
    case forbidden = "Forbidden"
    /// The provider token is malformed or wrongly signed, or its key, team and topic do not belong together.
    case invalidProviderToken = "InvalidProviderToken"
    /// There is neither a certificate nor a provider token.
    case missingProviderToken = "MissingProviderToken"
    /// Another key was used for the first push on the connection, which binds the connection to it.
    case unrelatedKeyIDInToken = "UnrelatedKeyIdInToken"
    /// The key is limited to the other environment, in the documented spelling.
    case badEnvironmentKeyIDInToken = "BadEnvironmentKeyIdInToken"
    /// The key is limited to the other environment, in the spelling that gateways use.
    case badEnvironmentKeyInToken = "BadEnvironmentKeyInToken"
    /// The credentials do not cover the bundle id in the path of a broadcast.
    case topicMismatch = "TopicMismatch"
    /// The path is wrong.
    case badPath = "BadPath"
    /// The method is not `POST`.
    case methodNotAllowed = "MethodNotAllowed"
    /// The app was removed from the device.
    case unregistered = "Unregistered"
    /// The token has expired.
    case expiredToken = "ExpiredToken"
    /// The payload is too long.
    case payloadTooLarge = "PayloadTooLarge"
    /// A new provider token arrived less than 20 minutes after the last one.
    case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
    /// Too many requests were sent for one token.
    case tooManyRequests = "TooManyRequests"
    /// The gateway failed.
    case internalServerError = "InternalServerError"
    /// The gateway is unavailable.
    case serviceUnavailable = "ServiceUnavailable"
    /// This server is shutting down.
    case shutdown = "Shutdown"
}

extension Reason {
    private static let byName: [String: Reason] = {
        var table = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })
        // Apple's broadcast table prints it with a space.
        table["Service Unavailable"] = .serviceUnavailable
        return table
    }()

    /// Looks a reason up by its name on the wire.
    ///
    /// - Returns: `nil` for a name that is not in Apple's tables.
    package init?(name: some StringProtocol) {
        guard let reason = Self.byName[String(name)] else { return nil }
        self = reason
    }
}
