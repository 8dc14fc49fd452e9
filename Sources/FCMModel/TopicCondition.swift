package import Document

/// A condition over topics, such as `'a' in topics && ('b' in topics || !('c' in topics))`
/// (<https://firebase.google.com/docs/cloud-messaging/send-topic-messages>).
///
/// FCM answers a fault in one with a bare "Request contains an invalid argument.", so it is parsed here.
package struct TopicCondition: Hashable, Sendable {
    /// The most topics that a condition may name.
    package static let topicLimit = 5

    /// The names of its topics, in the order of the text.
    package let topics: [String]

    /// Parses a condition. Only spaces may stand between its words, so that it needs no escapes in JSON.
    ///
    /// - Throws: The fault of the text; report it at the field's place.
    package init(_ text: String) throws(TextFault) {
        var scanner = Scanner(text: Array(text.utf8))
        topics = try scanner.topics()
        guard topics.count <= Self.topicLimit else {
            throw TextFault(
                "names \(topics.count) topics; the limit is \(Self.topicLimit)",
                hint: "split it into several conditions, each in a job of its own")
        }
    }
}

/// Reads a condition from its start to its end: an operand, an operator, an operand and so on.
private struct Scanner {
    let text: [UInt8]
    private var position = 0
    private var depth = 0

    private static let form = "write it as in 'news' in topics && !('sport' in topics)"

    init(text: [UInt8]) { self.text = text }

    mutating func topics() throws(TextFault) -> [String] {
        guard text.contains(where: { $0 != UInt8(ascii: " ") }) else { throw TextFault("is empty", hint: Self.form) }
        var topics: [String] = []
        var expectsOperand = true
        while skipSpaces() {
            if expectsOperand {
                if skip("(") {
                    depth += 1
                } else if !skip("!") {
                    topics.append(try topic())
                    expectsOperand = false
                }
            } else if skip(")") {
                depth -= 1
                guard depth >= 0 else { throw fault("closes a parenthesis that is not open", at: position) }
            } else if skip("&&") || skip("||") {
                expectsOperand = true
            } else {
                throw fault("has no operator", at: position + 1)
            }
        }
        guard !expectsOperand else { throw fault("ends where a topic is expected", at: position) }
        guard depth == 0 else { throw fault("does not close a parenthesis", at: position) }
        return topics
    }

    /// Reads `'name' in topics`.
    private mutating func topic() throws(TextFault) -> String {
        let start = position
        guard skip("'") else { throw fault("has no topic in single quotes", at: start + 1) }
        let name = text[position...].prefix { $0 != UInt8(ascii: "'") }
        position += name.count
        guard skip("'") else { throw fault("has a quote without an end", at: start + 1) }
        if let fault = AddressRule.topic.fault(of: name.span) { throw self.fault(fault, start + 1) }
        _ = skipSpaces()
        guard skip("in "), skipSpaces(), skip("topics") else {
            throw fault("has no `in topics` behind a topic", at: position + 1)
        }
        return String(decoding: name, as: UTF8.self)
    }

    private func fault(_ fault: AddressRule.Fault, _ place: Int) -> TextFault {
        switch fault {
        case .empty: self.fault("has a topic without a name", at: place)
        case .length(let count):
            self.fault("has a topic of \(count) bytes; the limit is \(AddressRule.topic.lengths.upperBound)", at: place)
        case .stray(let scalar, _):
            self.fault("has \(FieldText.name(of: scalar)) in the name of a topic", at: place)
        }
    }

    private func fault(_ message: String, at place: Int) -> TextFault {
        TextFault("\(message) (at byte \(place))", hint: Self.form)
    }

    /// Returns whether there is more.
    private mutating func skipSpaces() -> Bool {
        while position < text.count, text[position] == UInt8(ascii: " ") { position += 1 }
        return position < text.count
    }

    private mutating func skip(_ word: StaticString) -> Bool {
        let bytes = Array(word.description.utf8)
        guard text[position...].starts(with: bytes) else { return false }
        position += bytes.count
        return true
    }
}
