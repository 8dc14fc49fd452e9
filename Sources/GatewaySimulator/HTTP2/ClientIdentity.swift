import APNSHTTP2
import APNSModel
import JSON

/// The identity of a client and its permissions.
struct ClientIdentity {
    /// The topics of the client's certificate, or `nil` if it presented none.
    private let certificateTopics: [String]?
    /// The last valid provider token.
    private var current: CurrentToken?
    /// The last valid topic, with the push type of its request.
    private var goodTopic: (text: [UInt8], type: PushType?)?

    private struct CurrentToken {
        let authorization: [UInt8]
        let token: ProviderToken
        let key: RegisteredKey
        let firstUse: Moment
    }

    /// Creates the identity of a client with a certificate for these topics, or without one.
    init(certificateTopics: [String]?) {
        self.certificateTopics = certificateTopics
    }

    /// Whether the client must identify itself with a provider token.
    var usesToken: Bool { certificateTopics == nil }

    /// Returns the reason why this client may not make a request, or `nil` if it may.
    mutating func fault(
        in reading: RequestReading, at now: GatewayPolicy.Now, terms: RequestTerms, parser: inout JSON.Parser
    ) -> Reason? {
        if usesToken, let fault = tokenFault(reading.authorization, at: now, terms: terms, parser: &parser) {
            return fault
        }
        return topicFault(in: reading, terms: terms)
    }

    private mutating func tokenFault(
        _ authorization: ArraySlice<UInt8>?, at now: GatewayPolicy.Now, terms: RequestTerms,
        parser: inout JSON.Parser
    ) -> Reason? {
        guard let authorization else { return .missingProviderToken }
        if let current, authorization.isSame(as: current.authorization) {
            return timeFault(of: current.token, at: now.wallTime, terms: terms)
        }
        guard let text = ProviderToken.bearer(in: authorization),
            let signed = ProviderToken.parse(text, parser: &parser),
            let key = terms.key(behind: signed)
        else { return .invalidProviderToken }
        if let fault = timeFault(of: signed.token, at: now.wallTime, terms: terms) { return fault }
        if let current {
            if key.teamID != current.key.teamID { return .invalidProviderToken }
            if key.keyID != current.key.keyID { return .unrelatedKeyIDInToken }
            if now.moment - current.firstUse < terms.rules.tokenUpdateInterval { return .tooManyProviderTokenUpdates }
        }
        current = CurrentToken(
            authorization: Array(authorization), token: signed.token, key: key, firstUse: now.moment)
        return nil
    }

    private func timeFault(of token: ProviderToken, at now: WallTime, terms: RequestTerms) -> Reason? {
        let age = now - WallTime(epochSeconds: token.issuedAt)
        return age > terms.rules.tokenLifetime || age < .zero - terms.rules.tokenLifetime ? .expiredProviderToken : nil
    }

    private mutating func topicFault(in reading: RequestReading, terms: RequestTerms) -> Reason? {
        if let app = reading.purpose.app { return mayBroadcast(to: app) ? nil : .topicMismatch }
        guard let topic = reading.topic else {
            return usesToken || (certificateTopics?.count ?? 0) > 1 ? .missingTopic : nil
        }
        if let goodTopic, goodTopic.type == reading.pushType, topic.isSame(as: goodTopic.text) { return nil }
        let text = String(decoding: topic, as: UTF8.self)
        if let fault = fault(ofTopic: text, for: reading.pushType) { return fault }
        goodTopic = (Array(topic), reading.pushType)
        return nil
    }

    /// Whether the certificate or the key is for an app, as far as it lists topics.
    private func mayBroadcast(to app: String) -> Bool {
        let topics = certificateTopics.map(Set.init) ?? current?.key.topics ?? []
        return topics.isEmpty || topics.contains { $0 == app || $0.hasPrefix(app + ".") || app.hasPrefix($0 + ".") }
    }

    private func fault(ofTopic topic: String, for type: PushType?) -> Reason? {
        guard !topic.isEmpty, topic.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return .badTopic }
        // A push type with a topic suffix requires that suffix. Without a push type the topic cannot be checked.
        if let type, PushTopic.topic(for: type, app: topic) != topic { return .badTopic }
        if let certificateTopics {
            return certificateTopics.isEmpty || certificateTopics.contains(topic) ? nil : .topicDisallowed
        }
        guard let topics = current?.key.topics, !topics.isEmpty else { return nil }
        return topics.contains { topic == $0 || topic.hasPrefix($0 + ".") } ? nil : .topicDisallowed
    }
}
