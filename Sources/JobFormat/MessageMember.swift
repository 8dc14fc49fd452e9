import Document
import FCMModel
import PushModel

/// A member of an FCM message as it is sent, and what the delivery rules need to know about it.
struct MessageMember: Hashable, Sendable {
    /// The member; `nil` if FCM is not known to have it.
    let key: JobKey?
    /// The facts about its value.
    let facts: MessageFacts
    /// Its name in quotes, and a colon.
    private let name: [UInt8]
    /// Its value.
    private var json: [UInt8]
    /// The offset in `json` at which entries can be added: a closing brace.
    private var end: Int
    /// Whether the entries are headers, and there is no member `headers` yet.
    private var lacksHeaders = false
    /// The place in `json` of the value that says for how long FCM or a web push service keeps the message.
    private var life: Range<Int>?

    /// Compiles a member as the user wrote it. Members of it that are null are left out where entries can be added.
    ///
    /// - Throws: A diagnostic at the place of a YAML number that JSON cannot represent.
    init(_ key: JobKey?, _ member: Member, asStrings strings: Set<Int>) throws(Diagnostic) {
        self.key = key
        facts = MessageFacts(of: key, member.value)
        name = Self.name(member.key)
        switch key {
        case .android, .androidV2, .apns, .webpush:
            (json, end) = ([UInt8(ascii: "{")], 0)
            for part in member.value.members where !part.value.isNull {
                if json.count > 1 { json.append(UInt8(ascii: ",")) }
                json += Self.name(part.key)
                if key == .apns || key == .webpush, part.key.isText("headers") {
                    try append(headers: part.value, strings)
                } else {
                    let isAndroid = key == .android || key == .androidV2
                    try append(part, isLife: isAndroid && part.key.isText("ttl"), strings)
                }
            }
            lacksHeaders = end == 0 && (key == .apns || key == .webpush)
            if end == 0 { end = json.count }
            json.append(UInt8(ascii: "}"))
        default:
            json = try JSONText.bytes(of: member.value, asStrings: strings)
            end = json.count - 1
        }
    }

    private mutating func append(headers: Node, _ strings: Set<Int>) throws(Diagnostic) {
        json.append(UInt8(ascii: "{"))
        for header in headers.members {
            if json.last != UInt8(ascii: "{") { json.append(UInt8(ascii: ",")) }
            json += Self.name(header.key)
            try append(header, isLife: key == .webpush && header.key.text.lowercased() == "ttl", strings)
        }
        end = json.count
        json.append(UInt8(ascii: "}"))
    }

    private mutating func append(_ part: Member, isLife: Bool, _ strings: Set<Int>) throws(Diagnostic) {
        let start = json.count
        try JSONText.append(part.value, to: &json, asStrings: strings)
        if isLife { life = start..<json.count }
    }

    /// Creates a member from the entries of its value, without its braces.
    init(_ key: JobKey, entries: [UInt8], facts: MessageFacts = MessageFacts()) {
        (self.key, self.facts) = (key, facts)
        name = Array("\"\(key.rawValue)\":".utf8)
        json = [UInt8(ascii: "{")] + entries + [UInt8(ascii: "}")]
        end = json.count - 1
    }

    /// The member with the seconds that are left until the expiration in place of those that it sets itself.
    var renewed: MessageMember {
        guard let life else { return self }
        var member = self
        let value = TimeToLive.value(unit: key == .webpush ? "" : "s")
        member.json.replaceSubrange(life, with: value)
        member.end += value.count - life.count
        return member
    }

    /// The number of bytes in the value.
    var byteCount: Int { json.count }

    /// Appends the member, and a comma before it if others precede it.
    ///
    /// - Parameters:
    ///   - bytes: The message without its braces.
    ///   - entries: Entries to add to the value, or to its headers.
    func append(to bytes: inout [UInt8], adding entries: [UInt8] = []) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: ",")) }
        bytes += name
        guard !entries.isEmpty else { return bytes += json }
        bytes += json[..<end]
        if json[end - 1] != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        if lacksHeaders { bytes += Self.headers }
        bytes += entries
        if lacksHeaders { bytes.append(UInt8(ascii: "}")) }
        bytes += json[end...]
    }

    private static let headers = Array("\"headers\":{".utf8)

    private static func name(_ key: Node) -> [UInt8] {
        var writer = JSONWriter()
        writer.key(utf8: key.bytes)
        return writer.bytes
    }
}
