import Document

/// A notification to gorush for Android, as jobs for an FCM app.
///
/// The message is the one that gorush 1.22 makes of it (notify/notification_fcm.go, `GetAndroidNotification`): members under
/// FCM's own names, over which some fields go that have gorush's names. What gorush does not examine, the daemon's checks do.
struct GorushMessage {
    private let fields: GorushFields
    private let apns: GorushFields
    private let payload: GorushFields
    private let tokens: [String]
    private let topic: String?
    private let condition: String?

    /// The most tokens that gorush takes in one notification.
    private static let tokenLimit = 500

    /// Reads a notification whose tokens are known.
    init(_ fields: GorushFields, tokens: [String]) {
        (self.fields, self.tokens) = (fields, tokens)
        apns = GorushFields(fields["apns"], ["payload": .object], prefix: "apns.")
        payload = GorushFields(apns["payload"], ["aps": .object], prefix: "apns.payload.")
        (topic, condition) = (fields.text("topic"), fields.text("condition"))
    }

    /// The topic or condition, and the tokens.
    var recipients: [String] { [topic, condition].compactMap(\.self) + tokens }

    /// The jobs, or why there are none: one for the topic or condition, and one for the tokens.
    var jobs: (list: [GorushRequest.Job], fault: String?) {
        if let fault { return ([], fault) }
        do throws(Diagnostic) {
            var jobs: [GorushRequest.Job] = []
            if let topic {
                // Firebase's SDK for Go removes this prefix (messaging.go, `MarshalJSON`).
                let name = topic.hasPrefix("/topics/") ? String(topic.dropFirst(8)) : topic
                jobs.append(try job(for: [topic]) { $0.member("topic", name) })
            } else if let condition {
                jobs.append(try job(for: [condition]) { $0.member("condition", condition) })
            }
            if !tokens.isEmpty { jobs.append(try job(for: tokens) { $0.write(tokens: tokens) }) }
            return (jobs, nil)
        } catch {
            return ([], error.sentence)
        }
    }

    private var fault: String? {
        if let fault = fields.fault ?? apns.fault ?? payload.fault { return fault }
        if topic != nil, condition != nil { return "topic and condition cannot be combined" }
        guard !recipients.isEmpty else { return "tokens must not be empty unless there is a topic or a condition" }
        guard tokens.count <= Self.tokenLimit else {
            return "tokens must not contain more than \(Self.tokenLimit) elements"
        }
        guard isBackground, let data = fields["data"] else { return nil }
        let taken = ["content-available", sound == nil ? nil : "sound"]
        return data.members.first { taken.contains($0.key.text) }.map {
            "data must not have the key \($0.key.text) beside content_available: both belong into aps"
        }
    }

    private func job(
        for recipients: [String], _ writeRecipients: (inout JSONWriter) -> Void
    ) throws(Diagnostic) -> GorushRequest.Job {
        var writer = JSONWriter()
        writer.beginObject()
        writeRecipients(&writer)
        writePriority(to: &writer)
        writeNotification(to: &writer)
        try writeData(to: &writer)
        writeAndroid(to: &writer)
        writeAPNS(to: &writer)
        for name in ["webpush", "fcm_options"] {
            if let member = fields.value(name) { writer.member(name, raw: member) }
        }
        writer.endObject()
        return GorushRequest.Job(recipients: recipients, bytes: writer.bytes)
    }

    // MARK: Members

    /// The name of the sound, for Apple's devices too. Any other sound than text is for iOS.
    private var sound: String? { fields.text("sound") }

    /// The texts that go over those of `notification`.
    private var texts: [(name: String, value: String)] {
        [("title", "title"), ("body", "message"), ("image", "image")].compactMap { name, field in
            fields.text(field).map { (name, $0) }
        }
    }

    /// Writes the priority, unless `android` has one.
    private func writePriority(to writer: inout JSONWriter) {
        if let own = fields["android"]?["priority"], !own.isNull, own.string != "" { return }
        writer.write(priority: fields.text("priority"))
    }

    private func writeNotification(to writer: inout JSONWriter) {
        let (own, texts) = (fields.value("notification"), texts)
        guard own != nil || !texts.isEmpty else { return }
        writer.key("notification")
        writer.beginObject()
        writer.members(of: own) { name in texts.contains { $0.name == name } }
        for (name, value) in texts { writer.member(name, value) }
        writer.endObject()
    }

    /// Writes `data`, whose values FCM wants to be text: strings as they are, numbers and words as they stand in the request,
    /// arrays and objects as JSON.
    private func writeData(to writer: inout JSONWriter) throws(Diagnostic) {
        guard let data = fields.value("data") else { return }
        writer.key("data")
        writer.beginObject()
        for member in data.members where !member.value.isNull {
            writer.key(utf8: member.key.bytes)
            let value = member.value
            writer.string(utf8: value.isContainer ? try JSONText.bytes(of: value)[...] : value.bytes)
        }
        writer.endObject()
    }

    /// Writes `android`, without the empty texts that Firebase's SDK for Go leaves out. Only if there is none, the sound makes
    /// one.
    private func writeAndroid(to writer: inout JSONWriter) {
        if let own = fields["android"] {
            writer.key("android")
            return writer.object(own, withoutEmptyTextsAlsoIn: "notification")
        }
        guard let sound else { return }
        writer.key("android")
        writer.beginObject()
        writer.key("notification")
        writer.beginObject()
        writer.member("sound", sound)
        writer.endObject()
        writer.endObject()
    }

    /// Whether the message wakes Apple's devices in the background.
    private var isBackground: Bool { fields.isTrue("content_available") }

    /// Whether Apple's devices may change the message before they show it.
    private var isMutable: Bool { fields.isTrue("mutable_content") && !texts.isEmpty }

    /// Writes `apns`. A message in the background, or one that may be changed, has another one in place of its own; the sound
    /// is added to either.
    private func writeAPNS(to writer: inout JSONWriter) {
        let own = isBackground || isMutable ? nil : fields.value("apns")
        guard own != nil || isBackground || isMutable || sound != nil else { return }
        if sound == nil, let own { return writer.member("apns", raw: own) }
        writer.key("apns")
        writer.beginObject()
        writer.members(of: own) { $0.lowercased() == "payload" }
        if isBackground {
            writer.key("headers")
            writer.beginObject()
            writer.member("apns-priority", "5")
            writer.endObject()
        }
        writer.key("payload")
        writer.beginObject()
        if own != nil { writer.members(of: apns["payload"]) { $0.lowercased() == "aps" } }
        writer.key("aps")
        writer.beginObject()
        if own != nil { writer.members(of: payload["aps"]) { sound != nil && $0.lowercased() == "sound" } }
        writeAPS(to: &writer)
        writer.endObject()
        writer.endObject()
        writer.endObject()
    }

    private func writeAPS(to writer: inout JSONWriter) {
        if isBackground {
            writer.member("content-available", 1)
            writer.members(of: fields["data"]) { _ in false }
        } else if isMutable {
            writer.member("mutable-content", 1)
        }
        writer.member("sound", sound)
    }
}

extension JSONWriter {
    /// Writes an object without its empty texts and those in one of its members.
    fileprivate mutating func object(_ node: Node, withoutEmptyTextsAlsoIn name: String? = nil) {
        beginObject()
        for member in node.members where member.value.string != "" {
            key(utf8: member.key.bytes)
            if member.key.text == name, member.value.kind == .mapping {
                object(member.value)
            } else {
                raw(member.value.raw)
            }
        }
        endObject()
    }

    /// Copies the members of an object, without those of some names.
    fileprivate mutating func members(of node: Node?, without isReplaced: (String) -> Bool) {
        guard let node else { return }
        for member in node.members where !isReplaced(member.key.text) {
            self.member(member.key.text, raw: member.value)
        }
    }
}
