package import Document

/// The type of a value in FCM's messages.
package enum FieldType: Hashable, Sendable {
    /// One value.
    case scalar(ScalarType)
    /// A list of such values.
    case list(ScalarType)
    /// A map of strings that the app receives, with keys that are reserved; see ``DataKey``.
    case data
    /// A map of strings that become header fields of another push service's request.
    case headers
    /// Any object, which another push service reads.
    case object
    /// A message of FCM's.
    case message(MessageType)
}

/// The type of a single value, in the JSON form of protocol buffers (<https://protobuf.dev/programming-guides/json/>).
package enum ScalarType: Hashable, Sendable {
    /// Any text.
    case string
    /// `true` or `false`.
    case boolean
    /// A whole number of 32 bits, or its digits as text.
    case int32
    /// A number from 0 to 1.
    case fraction
    /// A duration such as `3.5s`.
    case duration
    /// A duration of 0 to 28 days, for which FCM stores a message.
    case lifetime
    /// A time in RFC 3339.
    case timestamp
    /// A colour in the form `#rrggbb`.
    case color
    /// A label for the statistics of Firebase: 1 to 50 letters, digits and `-_.~%`.
    case analyticsLabel
    /// An address that begins with `https://`.
    case link
    /// A word of a list.
    case choice(FieldChoice)

    /// A correct value in words, for messages.
    package var form: String {
        switch self {
        case .string: "text"
        case .boolean: "true or false"
        case .int32: "a whole number of at most 32 bits"
        case .fraction: "a number from 0 to 1"
        case .duration: "a duration such as \"3.5s\""
        case .lifetime: "a duration from \"0s\" to \"2419200s\", which is 28 days"
        case .timestamp: "a time such as \"2026-11-22T06:00:00Z\""
        case .color: "a color such as \"#ff8000\""
        case .analyticsLabel: "1 to 50 letters, digits and -_.~%"
        case .link: "text that begins with https://"
        case .choice(let choice): choice.words.map { "`\($0)`" }.joined(separator: " or ")
        }
    }

    /// Whether the JSON value is a string. In YAML any plain scalar is one then, whatever it looks like.
    package var isText: Bool {
        switch self {
        case .string, .duration, .lifetime, .timestamp, .color, .analyticsLabel, .link, .choice: true
        case .boolean, .int32, .fraction: false
        }
    }

    /// Whether FCM takes a value, which is not null.
    package func accepts(_ node: Node) -> Bool {
        switch self {
        case .boolean: return node.boolean != nil
        case .int32:
            let number =
                node.integer ?? (node.kind == .string && node.bytes.first != UInt8(ascii: "+") ? Int(node.text) : nil)
            return number.flatMap { Int32(exactly: $0) } != nil
        case .fraction:
            // Neither hexadecimal nor the names of numbers, which JSON does not have.
            let isPlain =
                !node.isContainer
                && node.text.utf8.allSatisfy { (0x30...0x39).contains($0) || ".eE+-".utf8.contains($0) }
            return isPlain && Double(node.text).map { (0...1).contains($0) } ?? false
        case .string, .duration, .lifetime, .timestamp, .color, .analyticsLabel, .link, .choice:
            guard node.kind == .string || node.kind == .plain else { return false }
            return accepts(text: node.bytes)
        }
    }

    private func accepts(text: ArraySlice<UInt8>) -> Bool {
        switch self {
        case .string: true
        case .duration: WireDuration.parse(text).map { $0 >= .zero } ?? false
        case .lifetime: WireDuration.parse(text).map { (.zero...TimeToLive.longest).contains($0) } ?? false
        case .timestamp: WireTimestamp.isValid(text)
        case .color:
            text.count == 7 && text.first == UInt8(ascii: "#") && text.dropFirst().allSatisfy { hexValue($0) != nil }
        case .analyticsLabel: text.count <= 50 && AddressRule.topic.fault(of: text.span) == nil
        case .link: text.starts(with: "https://".utf8)
        case .choice(let choice): choice.accepts(String(decoding: text, as: UTF8.self))
        case .boolean, .int32, .fraction: false
        }
    }
}

/// The words of an enumeration of FCM's. Their case does not matter.
package enum FieldChoice: Hashable, Sendable {
    /// `AndroidMessagePriority`.
    case messagePriority
    /// `NotificationPriority`.
    case notificationPriority
    /// `Visibility`.
    case visibility
    /// `Proxy`.
    case proxy

    /// The words, as the reference writes them.
    package var words: [String] {
        switch self {
        case .messagePriority: ["NORMAL", "HIGH"]
        case .notificationPriority: Self.notificationPriorities
        case .visibility: ["PRIVATE", "PUBLIC", "SECRET"]
        case .proxy: ["ALLOW", "DENY", "IF_PRIORITY_LOWERED"]
        }
    }

    private static let notificationPriorities = ["UNSPECIFIED", "MIN", "LOW", "DEFAULT", "HIGH", "MAX"].map {
        "PRIORITY_" + $0
    }

    func accepts(_ word: String) -> Bool { words.contains(word.uppercased()) }
}
