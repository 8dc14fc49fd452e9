import APNSModel
import APNSServing
import JSON
import PushModel

/// The identity of a client and its permissions.
struct ClientIdentity {
    /// The topics of the client's certificate, or `nil` if it presented none.
    private let certificateTopics: [String]?
    private var tokens = TokenGuard()
    /// The last valid topic, with the push type of its request.
    private var goodTopic: (text: [UInt8], type: PushType?)?

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
        tokens.limits.lifetime = terms.rules.tokenLifetime
        tokens.limits.updateInterval = terms.rules.tokenUpdateInterval
        let time = (now.moment, now.wallTime)
        if usesToken,
            let fault = tokens.fault(
                in: reading.authorization, at: time, parser: &parser, key: terms.place(ofKeyBehind:))
        {
            return fault
        }
        return topicFault(in: reading, terms: terms)
    }

    private mutating func topicFault(in reading: RequestReading, terms: RequestTerms) -> Reason? {
        if let app = reading.purpose.app { return mayBroadcast(to: app, terms) ? nil : .topicMismatch }
        guard let topic = reading.topic else {
            return usesToken || (certificateTopics?.count ?? 0) > 1 ? .missingTopic : nil
        }
        if let goodTopic, goodTopic.type == reading.pushType, topic.isSame(as: goodTopic.text) { return nil }
        let text = String(decoding: topic, as: UTF8.self)
        if let fault = fault(ofTopic: text, for: reading.pushType, terms) { return fault }
        goodTopic = (Array(topic), reading.pushType)
        return nil
    }

    /// Whether the certificate or the key is for an app, as far as it lists topics.
    private func mayBroadcast(to app: String, _ terms: RequestTerms) -> Bool {
        let topics = certificateTopics.map(Set.init) ?? terms.topics(ofKey: tokens.key)
        return topics.isEmpty || topics.contains { $0 == app || $0.hasPrefix(app + ".") || app.hasPrefix($0 + ".") }
    }

    private func fault(ofTopic topic: String, for type: PushType?, _ terms: RequestTerms) -> Reason? {
        guard !topic.isEmpty, topic.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return .badTopic }
        // A push type with a topic suffix requires that suffix. Without a push type the topic cannot be checked.
        if let type, PushTopic.topic(for: type, app: topic) != topic { return .badTopic }
        if let certificateTopics {
            return certificateTopics.isEmpty || certificateTopics.contains(topic) ? nil : .topicDisallowed
        }
        let topics = terms.topics(ofKey: tokens.key)
        return topics.isEmpty || topics.contains { topic == $0 || topic.hasPrefix($0 + ".") } ? nil : .topicDisallowed
    }
}
