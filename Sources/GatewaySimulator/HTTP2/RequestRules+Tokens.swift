import APNSModel

extension RequestRules {
    /// Returns the answer that depends only on the device token.
    func answer(about token: [UInt8]) -> RequestAnswer {
        if !unregistered.isEmpty, let since = unregistered[token] {
            return RequestAnswer(.unregistered, timestamp: since)
        }
        if !foreign.isEmpty, foreign.contains(token) { return RequestAnswer(.badDeviceToken) }
        if !misdirected.isEmpty, misdirected.contains(token) { return RequestAnswer(.deviceTokenNotForTopic) }
        return .accepted
    }

    /// Returns the answer that depends only on the channel of a broadcast, its base64 text, and the expiration.
    func answer(aboutChannel channel: [UInt8], expiry: UInt32?) -> RequestAnswer {
        guard let channels else { return .accepted }
        guard let policy = channels[String(decoding: channel, as: UTF8.self)] else {
            return RequestAnswer(.channelNotRegistered)
        }
        return policy == .nothing && expiry != 0 ? RequestAnswer(.badExpirationDate) : .accepted
    }
}
