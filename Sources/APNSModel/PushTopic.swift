import Document

/// The value of `apns-topic`: the app's bundle identifier plus the suffix that the push type requires.
package enum PushTopic {
    /// How the sender proves its right to a topic.
    package enum Identity: Hashable, Sendable {
        /// A certificate and the topics that it lists, or only the user identifier of its subject; empty if unknown.
        case certificate(topics: [String])
        /// A key, through the tokens signed with it.
        case providerToken
    }

    /// Why a gateway would refuse a topic.
    package struct Fault: Error, Hashable, Sendable {
        /// The problem, as a fragment without a full stop.
        package let message: String
        /// The remedy.
        package let hint: String
        /// Whether the topic may be right nevertheless.
        package let isWarning: Bool

        fileprivate init(_ message: String, hint: String, isWarning: Bool = false) {
            self.message = message
            self.hint = hint
            self.isWarning = isWarning
        }
    }

    /// Returns an app's topic for a push type, for jobs without a topic.
    ///
    /// - Parameters:
    ///   - type: The push type.
    ///   - app: The bundle identifier; for `mdm`, the certificate's user identifier.
    /// - Returns: `app` with the type's suffix, unless it already ends in it.
    package static func topic(for type: PushType, app: String) -> String {
        guard let suffix = type.rules.topicSuffix, !app.hasSuffix(suffix) else { return app }
        return app + suffix
    }

    /// Returns the push type whose suffix a topic has; `nil` if it has none.
    package static func type(ofSuffixIn topic: String) -> PushType? {
        PushType.allCases.first { type in
            guard let suffix = type.rules.topicSuffix, !suffix.isEmpty else { return false }
            return topic.hasSuffix(suffix)
        }
    }

    /// Checks the value of `apns-topic`.
    ///
    /// - Parameters:
    ///   - topic: The topic to be sent; `nil` for none.
    ///   - type: The push type.
    ///   - identity: The credentials.
    /// - Returns: The first problem that a gateway would refuse; `nil` if there are none.
    package static func fault(of topic: String?, for type: PushType, with identity: Identity) -> Fault? {
        if type.rules.needsProviderToken, case .certificate = identity {
            return Fault(
                "a push of type \(type.rawValue) cannot be sent with a certificate",
                hint: "use a key instead: credentials: {token: {key: …, key_id: …, team_id: …}}")
        }
        guard let topic else { return missing(identity) }
        return malformed(topic).map { Fault("the topic \($0.message)", hint: $0.hint) } ?? misfit(topic, type)
            ?? unlisted(topic, identity)
    }

    /// Checks the form of a topic that a job names.
    ///
    /// - Parameter topic: The topic, with the suffix of a push type if it needs one.
    /// - Returns: An error for what no topic has, a warning for what hardly any topic has; `nil` for others.
    package static func fault(ofForm topic: String) -> Fault? {
        malformed(topic) ?? prefixed(topic) ?? underscored(topic)
    }

    /// Checks the form of an app's own topic, which pushspool completes with the suffix of a push type.
    ///
    /// - Returns: The same as `fault(ofForm:)`, or a warning about a suffix.
    package static func fault(ofAppsOwn topic: String) -> Fault? {
        if let fault = fault(ofForm: topic) { return fault }
        guard let type = Self.type(ofSuffixIn: topic), let suffix = type.rules.topicSuffix else { return nil }
        let app = topic.dropLast(suffix.utf8.count)
        return Fault(
            "ends in \(suffix), the suffix of pushes of type \(type.rawValue); other pushes would get it too",
            hint: "set it to the bundle identifier alone, \(app): pushspool appends the suffix where it belongs",
            isWarning: true)
    }
}

extension PushTopic {
    /// The longest topic: a bundle identifier of the maximum 155 characters, the longest suffix, and some slack.
    package static let byteLimit = 255

    private static func missing(_ identity: Identity) -> Fault? {
        switch identity {
        case .certificate(let topics) where topics.count > 1:
            Fault(
                "the certificate has several topics, and none is set",
                hint: "set topic: to one of \(topics.joined(separator: ", "))")
        case .certificate: nil
        case .providerToken:
            Fault(
                "a key is valid for many apps, and no topic is set", hint: "set topic: to the app's bundle identifier")
        }
    }

    /// Bundle identifiers have letters, digits, hyphens and periods (Apple, "CFBundleIdentifier"); so have the identifiers of
    /// passes and of MDM certificates. Apple's tools do not let an underscore pass, but a compatible gateway may.
    private static func malformed(_ topic: String) -> Fault? {
        if topic.isEmpty { return Fault("is empty", hint: remedy) }
        if topic.utf8.count > byteLimit { return Fault("is longer than \(byteLimit) bytes", hint: remedy) }
        if let stray = topic.unicodeScalars.first(where: { !isUsual($0) && $0 != "_" }) {
            return Fault("contains \(FieldText.name(of: stray)), which no bundle identifier has", hint: remedy)
        }
        guard hasEmptyPart(topic) else { return nil }
        return Fault("has an empty part before, between or after its periods", hint: remedy)
    }

    /// Whether a text has no byte before, between or after its periods. A search for two periods costs twenty times as much.
    private static func hasEmptyPart(_ text: String) -> Bool {
        var isEmpty = true
        for byte in text.utf8 {
            if isEmpty, byte == UInt8(ascii: ".") { return true }
            isEmpty = byte == UInt8(ascii: ".")
        }
        return isEmpty
    }

    private static let remedy = "set it to the app's bundle identifier, such as com.example.app"

    private static func isUsual(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", ".": true
        default: false
        }
    }

    /// An application identifier, as in a provisioning profile: the bundle identifier behind the team's or the app's prefix.
    private static func prefixed(_ topic: String) -> Fault? {
        let parts = topic.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, parts[0].utf8.count == 10,
            parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) })
        else { return nil }
        return Fault(
            "begins with what looks like a team id, \(parts[0])",
            hint: "set it to the bundle identifier alone, \(parts[1])",
            isWarning: true)
    }

    private static func underscored(_ topic: String) -> Fault? {
        guard topic.contains("_") else { return nil }
        return Fault("contains `_`, which Apple allows in no bundle identifier", hint: remedy, isWarning: true)
    }

    private static func misfit(_ topic: String, _ type: PushType) -> Fault? {
        guard let suffix = type.rules.topicSuffix else { return nil }
        guard topic.hasSuffix(suffix) else {
            return Fault(
                "the topic of a push of type \(type.rawValue) must end in \(suffix)",
                hint: "use \(topic)\(suffix), or omit the topic")
        }
        guard suffix.isEmpty, let other = Self.type(ofSuffixIn: topic) else { return nil }
        return Fault(
            "the topic looks like one for pushes of type \(other.rawValue), but this one is \(type.rawValue)",
            hint: "set push_type: \(other.rawValue), or remove the suffix", isWarning: true)
    }

    private static func unlisted(_ topic: String, _ identity: Identity) -> Fault? {
        guard case .certificate(let topics) = identity, !topics.isEmpty, !topics.contains(topic) else { return nil }
        return Fault(
            "the certificate is not for topic \(topic)",
            hint: "use one of its topics: \(topics.joined(separator: ", "))")
    }
}
