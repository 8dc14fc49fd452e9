import APNSModel
import APNSServing
import PushModel

extension RequestRules {
    /// Returns the maximum payload in bytes of a request.
    func payloadLimit(of reading: RequestReading) -> Int {
        if reading.isAboutChannel { return broadcastPayloadLimit }
        return reading.pushType == .voip ? voipPayloadLimit : payloadLimit
    }

    /// Returns the answer that depends only on the device token.
    func answer(about token: [UInt8]) -> RequestAnswer {
        if !unregistered.isEmpty, let since = unregistered[token] {
            return RequestAnswer(.unregistered, timestamp: since)
        }
        if !foreign.isEmpty, foreign.contains(token) { return RequestAnswer(.badDeviceToken) }
        if !misdirected.isEmpty, misdirected.contains(token) { return RequestAnswer(.deviceTokenNotForTopic) }
        return .accepted
    }
}
