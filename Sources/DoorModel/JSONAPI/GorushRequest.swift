package import Document
package import PushModel

/// A request to gorush (`POST /api/push`), as jobs.
///
/// The fields are those of gorush 1.22 (its README, "Request body"); what is left out is what gorush and apns2 leave out.
/// Notifications for platforms that pushspool does not push to, or with a field of a wrong type, are refused one by one.
package struct GorushRequest: Sendable {
    /// A platform, by gorush's number.
    package enum Platform: Int, Sendable {
        /// Apple's devices, over Apple's gateway.
        case iOS = 1
        /// All that FCM reaches.
        case android = 2
        /// Huawei's devices, which pushspool does not push to.
        case huawei = 3

        /// The word in gorush's logs.
        package var word: String {
            switch self {
            case .iOS: "ios"
            case .android: "android"
            case .huawei: "huawei"
            }
        }
    }

    /// A job that a notification becomes.
    package struct Job: Sendable {
        /// The recipients as the client spelled them: tokens, or one topic or condition.
        package let recipients: [String]
        /// The document.
        package let bytes: [UInt8]
    }

    /// A notification.
    package struct Notification: Sendable {
        /// The platform; `nil` if gorush has none of this number.
        package let platform: Platform?
        /// The topic that it names: an app's for iOS, FCM's for Android.
        package let topic: String?
        /// Whether it names the sandbox, or production; `nil`: neither.
        package let isSandbox: Bool?
        /// The recipients of all jobs, or of those that it would have become.
        package let recipients: [String]
        /// The text to log it by.
        package let message: String
        /// The jobs; empty if none can be made of it.
        package let jobs: [Job]
        /// Why there are none.
        package let fault: String?
    }

    /// The notifications, in their order.
    package let notifications: [Notification]

    private static let notificationLimit = 100

    /// Reads a request.
    ///
    /// - Parameters:
    ///   - root: The body.
    ///   - now: The time after which an expiration has not passed yet.
    /// - Throws: The problem with it as a whole.
    package init(_ root: Node, at now: WallTime) throws(APIProblem) {
        guard let list = root["notifications"], list.kind == .sequence, list.count > 0 else {
            throw APIProblem(400, "notifications must be an array that is not empty")
        }
        guard list.count <= Self.notificationLimit else {
            throw APIProblem(400, "there are more than \(Self.notificationLimit) notifications")
        }
        guard list.elements.allSatisfy({ $0.kind == .mapping }) else {
            throw APIProblem(400, "each notification must be an object")
        }
        notifications = list.elements.map { Notification($0, at: now) }
    }
}

extension GorushRequest.Notification {
    fileprivate init(_ node: Node, at now: WallTime) {
        let fields = GorushFields(node, GorushFields.ofNotification)
        platform = fields["platform"]?.integer.flatMap(GorushRequest.Platform.init(rawValue:))
        topic = fields.text("topic")
        isSandbox = fields.isTrue("production") ? false : fields.isTrue("development") ? true : nil
        message = fields["message"]?.string ?? ""
        let tokens =
            (fields["tokens"]?.elements.compactMap(\.string) ?? []) + (fields.text("to").map { [$0] } ?? [])
        switch platform {
        case .iOS:
            let parts = Parts(fields)
            recipients = tokens
            fault = parts.fault(tokenCount: tokens.count)
            jobs =
                fault == nil ? [GorushRequest.Job(recipients: tokens, bytes: parts.job(tokens: tokens, at: now))] : []
        case .android:
            let message = GorushMessage(fields, tokens: tokens)
            recipients = message.recipients
            (jobs, fault) = message.jobs
        case .huawei, nil:
            (recipients, jobs) = (tokens, [])
            let isReadable = fields["platform"].map { $0.integer != nil } ?? true
            fault = isReadable ? "platform must be 1 (iOS) or 2 (Android); pushspool pushes to no other" : fields.fault
        }
    }

    /// A notification for iOS and the objects in it.
    private struct Parts {
        private let fields: GorushFields
        private let alert: GorushFields
        private let sound: GorushFields

        init(_ fields: GorushFields) {
            self.fields = fields
            alert = GorushFields(fields["alert"], GorushFields.ofAlert, prefix: "alert.")
            sound = GorushFields(fields["sound"], GorushFields.ofSound, prefix: "sound.")
        }

        /// Why there is no job to be made of it.
        func fault(tokenCount: Int) -> String? {
            if let fault = fields.fault ?? alert.fault ?? sound.fault { return fault }
            guard tokenCount > 0 else { return "tokens must not be empty" }
            if fields["data"]?["aps"] != nil { return "data must not have the key aps" }
            let isShared = fields.text("apns_id") != nil && tokenCount > 1
            return isShared ? "apns_id must be that of one notification; send each token by itself" : nil
        }

        /// Writes the job. What gorush passes to the gateway unread is passed to the daemon's checks.
        func job(tokens: [String], at now: WallTime) -> [UInt8] {
            var writer = JSONWriter()
            writer.beginObject()
            writer.write(tokens: tokens)
            for name in ["topic", "push_type", "collapse_id", "apns_id"] { writer.member(name, fields.text(name)) }
            if let expiration = fields["expiration"] { writer.write(expiration: expiration, at: now) }
            writer.write(priority: fields.text("priority"))
            writer.key("payload")
            writer.beginObject()
            if let data = fields["data"] {
                for member in data.members { writer.member(member.key.text, raw: member.value) }
            }
            writer.key("aps")
            writer.beginObject()
            writeAPS(to: &writer)
            writer.endObject()
            writer.endObject()
            writer.endObject()
            return writer.bytes
        }

        /// The fields that become members of `aps` under the same name, without the underscore.
        private static let names = [
            "category", "thread-id", "url-args", "interruption_level", "content-state", "stale-date", "dismissal-date",
            "event", "timestamp", "attributes-type", "attributes", "relevance-score",
        ]

        private func writeAPS(to writer: inout JSONWriter) {
            writeAlert(to: &writer)
            // Zero removes the badge.
            if let badge = fields["badge"] { writer.member("badge", raw: badge) }
            for name in Self.names {
                guard let value = fields.value(name) else { continue }
                writer.member(String(name.map { $0 == "_" ? "-" : $0 }), raw: value)
            }
            if fields.isTrue("content_available") { writer.member("content-available", 1) }
            if fields.isTrue("mutable_content") { writer.member("mutable-content", 1) }
            writeSound(to: &writer)
        }

        /// Writes `sound`. With `name` or `volume` it is that of a critical alert, with apns2's values for the rest.
        private func writeSound(to writer: inout JSONWriter) {
            let (name, volume) = (fields.text("name"), fields.value("volume"))
            guard name != nil || volume != nil else {
                guard let given = fields.value("sound") else { return }
                return given.kind == .string ? writer.member("sound", raw: given) : writeOwnSound(to: &writer)
            }
            writer.key("sound")
            writer.beginObject()
            writer.member("critical", 1)
            writer.member("name", name ?? "default")
            if let volume { writer.member("volume", raw: volume) } else { writer.member("volume", 1) }
            writer.endObject()
        }

        private func writeOwnSound(to writer: inout JSONWriter) {
            let members = ["critical", "name", "volume"].compactMap { name in sound.value(name).map { (name, $0) } }
            guard !members.isEmpty else { return }
            writer.key("sound")
            writer.beginObject()
            for (name, value) in members { writer.member(name, raw: value) }
            writer.endObject()
        }

        /// Writes `alert`: the message alone, or an object with the title, the message and the fields of gorush's own `alert`.
        private func writeAlert(to writer: inout JSONWriter) {
            let (title, message) = (fields.text("title"), fields.text("message"))
            let given = GorushFields.ofAlert.keys.sorted().compactMap { name in alert.value(name).map { (name, $0) } }
            guard title != nil || !given.isEmpty else { return writer.member("alert", message) }
            writer.key("alert")
            writer.beginObject()
            if alert.text("title") == nil { writer.member("title", title) }
            if alert.text("body") == nil { writer.member("body", message) }
            for (name, value) in given { writer.member(name, raw: value) }
            writer.endObject()
        }
    }
}

extension JSONWriter {
    /// Writes `expiration`, which gorush hands to Apple, for whom a time that has passed asks for a single attempt.
    fileprivate mutating func write(expiration: Node, at now: WallTime) {
        guard let seconds = expiration.integer, seconds >= 0 else { return member("expiration", raw: expiration) }
        member("expiration", Int(Expiration(requested: Int64(seconds), at: now).epochSeconds))
    }
}

extension JSONWriter {
    /// Writes the recipients of a job.
    mutating func write(tokens: [String]) {
        guard tokens.count != 1 else { return member("token", tokens[0]) }
        key("tokens")
        beginArray()
        for token in tokens { string(token) }
        endArray()
    }

    /// Writes a priority by gorush's word; nothing for any other word.
    mutating func write(priority: String?) {
        switch priority {
        case "normal": member("priority", 5)
        case "high": member("priority", 10)
        default: break
        }
    }

    /// Writes a member whose value is copied.
    mutating func member(_ name: String, raw value: Node) {
        key(name)
        raw(value.raw)
    }
}
