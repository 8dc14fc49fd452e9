package import Document
import JobFormat

/// A request to gorush (`POST /api/push`), as jobs.
///
/// The fields are those of gorush 1.22 for iOS (its README, "Request body"). Notifications for other platforms are refused one
/// by one.
package struct GorushRequest: Sendable {
    /// A notification.
    package struct Notification: Sendable {
        /// The topic that it names.
        package let topic: String?
        /// Whether it names the sandbox, or production; `nil`: neither.
        package let isSandbox: Bool?
        /// The tokens, as they are spelled.
        package let tokens: [String]
        /// The text to log it by.
        package let message: String
        /// The job; `nil` if there is none to be made of it.
        package let job: [UInt8]?
        /// Why there is none.
        package let fault: String?
        /// The number of the platform.
        package let platform: Int
    }

    /// The notifications, in their order.
    package let notifications: [Notification]

    /// The number of gorush for iOS.
    private static let iOS = 1
    private static let notificationLimit = 100

    /// Reads a request.
    ///
    /// - Throws: The problem with it as a whole.
    package init(_ root: Node) throws(APIProblem) {
        guard let list = root["notifications"], list.kind == .sequence, list.count > 0 else {
            throw APIProblem(400, "notifications must be an array that is not empty")
        }
        guard list.count <= Self.notificationLimit else {
            throw APIProblem(400, "there are more than \(Self.notificationLimit) notifications")
        }
        guard list.elements.allSatisfy({ $0.kind == .mapping }) else {
            throw APIProblem(400, "each notification must be an object")
        }
        notifications = list.elements.map { Notification($0, iOS: Self.iOS) }
    }
}

extension GorushRequest.Notification {
    fileprivate init(_ node: Node, iOS: Int) {
        platform = node["platform"]?.integer ?? 0
        topic = node["topic"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        let isDevelopment = node["development"]?.boolean == true
        isSandbox = node["production"]?.boolean == true ? false : isDevelopment ? true : nil
        tokens = (node["tokens"]?.elements.map(\.text) ?? []) + (node["to"]?.string.map { [$0] } ?? [])
        message = node["message"]?.string ?? ""
        fault = Self.fault(of: node, tokens: tokens, isForIOS: platform == iOS)
        job = fault == nil ? Self.job(node, tokens: tokens) : nil
    }

    private static func fault(of node: Node, tokens: [String], isForIOS: Bool) -> String? {
        guard isForIOS else { return "pushspool pushes to Apple's devices only (platform 1)" }
        guard !tokens.isEmpty else { return "tokens must not be empty" }
        if node["data"]?["aps"] != nil { return "data must not have the key aps" }
        if let alert = node["alert"], alert.kind != .mapping, !alert.isNull { return "alert must be an object" }
        let hasID = node["apns_id"]?.string.map { !$0.isEmpty } ?? false
        return hasID && tokens.count > 1 ? "apns_id must be that of one notification; send each token by itself" : nil
    }

    /// Writes the job. What gorush passes to the gateway unread is passed to the daemon's checks.
    private static func job(_ node: Node, tokens: [String]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        if tokens.count == 1 {
            writer.member("token", tokens[0])
        } else {
            writer.key("tokens")
            writer.beginArray()
            for token in tokens { writer.string(token) }
            writer.endArray()
        }
        for key in ["topic", "push_type", "collapse_id"] {
            if let text = node[key]?.string, !text.isEmpty { writer.member(key, text) }
        }
        if let expiration = node["expiration"], !expiration.isNull { writer.member("expiration", raw: expiration) }
        switch node["priority"]?.string {
        case "normal": writer.member("priority", 5)
        case "high": writer.member("priority", 10)
        default: break
        }
        if let id = node["apns_id"]?.string, !id.isEmpty { writer.member("apns_id", id) }
        writer.key("payload")
        writer.beginObject()
        for member in node["data"]?.members ?? Node(tape: Tape(), index: 0).members {
            writer.member(member.key.text, raw: member.value)
        }
        writer.key("aps")
        writer.beginObject()
        writeAPS(node, to: &writer)
        writer.endObject()
        writer.endObject()
        writer.endObject()
        return writer.bytes
    }

    /// The names of gorush's fields, and of the members of `aps` that they become unchanged.
    private static let names = [
        ("badge", "badge"), ("category", "category"), ("thread-id", "thread-id"), ("url-args", "url-args"),
        ("interruption_level", "interruption-level"), ("content-state", "content-state"),
        ("stale-date", "stale-date"), ("dismissal-date", "dismissal-date"), ("event", "event"),
        ("timestamp", "timestamp"),
    ]

    private static func writeAPS(_ node: Node, to writer: inout JSONWriter) {
        writeAlert(node, to: &writer)
        for (field, name) in names {
            if let value = node[field], !value.isNull, value.string != "" { writer.member(name, raw: value) }
        }
        for (field, name) in [("content_available", "content-available"), ("mutable_content", "mutable-content")]
        where node[field]?.boolean == true { writer.member(name, 1) }
        writeSound(node, to: &writer)
    }

    private static func writeSound(_ node: Node, to writer: inout JSONWriter) {
        let (name, volume) = (node["name"]?.string ?? "", node["volume"])
        if let sound = node["sound"], !sound.isNull, name.isEmpty {
            writer.member("sound", raw: sound)
        } else if !name.isEmpty {
            writer.key("sound")
            writer.beginObject()
            writer.member("critical", 1)
            writer.member("name", name)
            if let volume, !volume.isNull { writer.member("volume", raw: volume) }
            writer.endObject()
        }
    }

    /// Writes `alert`: the message alone, or an object with the title, the message and the fields of gorush's own `alert`.
    private static func writeAlert(_ node: Node, to writer: inout JSONWriter) {
        let (title, message) = (node["title"]?.string ?? "", node["message"]?.string ?? "")
        let given = node["alert"]?.members.filter { !$0.value.isNull && $0.value.string != "" } ?? []
        if title.isEmpty, given.isEmpty {
            if !message.isEmpty { writer.member("alert", message) }
            return
        }
        writer.key("alert")
        writer.beginObject()
        let names = Set(given.map(\.key.text))
        if !title.isEmpty, !names.contains("title") { writer.member("title", title) }
        if !message.isEmpty, !names.contains("body") { writer.member("body", message) }
        for member in given { writer.member(member.key.text, raw: member.value) }
        writer.endObject()
    }
}

extension JSONWriter {
    /// Writes a member whose value is copied.
    fileprivate mutating func member(_ name: String, raw value: Node) {
        key(name)
        raw(value.raw)
    }
}
