package import APNSModel

/// The value of `apns-topic`: the app's bundle identifier and a suffix that the type of push asks for.
package enum PushTopic {
    /// What the sender proves its right to a topic with.
    package enum Identity: Hashable, Sendable {
        /// A certificate and the topics that it lists, or the user identifier of its subject alone; none: unknown.
        case certificate(topics: [String])
        /// A key, by the tokens signed with it.
        case providerToken
    }

    /// Why a gateway would refuse a topic.
    package struct Fault: Error, Hashable, Sendable {
        /// What is wrong, as a fragment without a full stop.
        package let message: String
        /// What to do.
        package let hint: String
        /// Whether it may be right all the same.
        package let isWarning: Bool

        fileprivate init(_ message: String, hint: String, isWarning: Bool = false) {
            self.message = message
            self.hint = hint
            self.isWarning = isWarning
        }
    }

    /// The topic of an app for a type of push, for when a job names none.
    ///
    /// - Parameters:
    ///   - type: The type of push.
    ///   - app: The bundle identifier; the certificate's user identifier with `mdm`.
    /// - Returns: `app` with the suffix of the type, which is not put there twice.
    package static func topic(for type: PushType, app: String) -> String {
        guard let suffix = type.rules.topicSuffix, !app.hasSuffix(suffix) else { return app }
        return app + suffix
    }

    /// Checks what goes into `apns-topic`.
    ///
    /// - Parameters:
    ///   - topic: The topic as it will be sent; `nil`: none is.
    ///   - type: The type of push.
    ///   - identity: The credentials.
    /// - Returns: The first thing that a gateway would not take; `nil` if there is none.
    package static func fault(of topic: String?, for type: PushType, with identity: Identity) -> Fault? {
        if type.rules.needsProviderToken, case .certificate = identity {
            return Fault(
                "a push of type \(type.rawValue) cannot be sent with a certificate",
                hint: "give the app a key instead: credentials: {token: {key: …, key_id: …, team_id: …}}")
        }
        guard let topic else { return missing(identity) }
        return malformed(topic) ?? misfit(topic, type) ?? unlisted(topic, identity)
    }
}

extension PushTopic {
    /// The longest topic: that of a bundle identifier's limit, 155 characters, with the longest suffix, and some more.
    private static let byteLimit = 255

    private static func missing(_ identity: Identity) -> Fault? {
        switch identity {
        case .certificate(let topics) where topics.count > 1:
            Fault(
                "the certificate has several topics and none is named",
                hint: "set topic: to one of \(topics.joined(separator: ", "))")
        case .certificate: nil
        case .providerToken:
            Fault("a key is for many apps and no topic is named", hint: "set topic: to the app's bundle identifier")
        }
    }

    private static func malformed(_ topic: String) -> Fault? {
        let isSound = topic.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard topic.isEmpty || topic.utf8.count > byteLimit || !isSound else { return nil }
        return Fault(
            "the topic is empty, longer than \(byteLimit) bytes, or has spaces or characters beyond ASCII",
            hint: "set it to the app's bundle identifier, such as com.example.app")
    }

    private static func misfit(_ topic: String, _ type: PushType) -> Fault? {
        guard let suffix = type.rules.topicSuffix else { return nil }
        guard topic.hasSuffix(suffix) else {
            return Fault(
                "the topic of a push of type \(type.rawValue) ends in \(suffix)",
                hint: "use \(topic)\(suffix), or leave it out")
        }
        guard suffix.isEmpty, let other = owner(ofSuffixIn: topic) else { return nil }
        return Fault(
            "the topic looks like one for pushes of type \(other.rawValue), and this one is \(type.rawValue)",
            hint: "set push_type: \(other.rawValue), or take the suffix off", isWarning: true)
    }

    private static func unlisted(_ topic: String, _ identity: Identity) -> Fault? {
        guard case .certificate(let topics) = identity, !topics.isEmpty, !topics.contains(topic) else { return nil }
        return Fault(
            "the certificate is not for topic \(topic)", hint: "its topics are \(topics.joined(separator: ", "))")
    }

    private static func owner(ofSuffixIn topic: String) -> PushType? {
        PushType.allCases.first { type in
            guard let suffix = type.rules.topicSuffix, !suffix.isEmpty else { return false }
            return topic.hasSuffix(suffix)
        }
    }
}
