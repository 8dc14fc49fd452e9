import Document
import FCMModel
import PushModel

/// The keys that a job file may have outside its payloads.
enum JobKey: String, CaseIterable, Sendable {
    case token, tokens, recipients, payloads, channel
    case id, count, strict, lane, record
    case notBefore = "not_before"
    case giveUpAfter = "give_up_after"
    case onDoubt = "on_doubt"
    case topic, priority, expiration
    case pushType = "push_type"
    case collapseID = "collapse_id"
    case payload, alert, badge, sound, category, custom
    case threadID = "thread_id"
    case contentAvailable = "content_available"
    case mutableContent = "mutable_content"
    case interruptionLevel = "interruption_level"
    case registeredAt = "registered_at"
    case apnsID = "apns_id"
    case fid, fids, condition
    case notification, data, android, apns, webpush
    case androidV2 = "android_v2"
    case fcmOptions = "fcm_options"
    case image, tag, icon, color
    case channelID = "channel_id"
    case clickAction = "click_action"

    /// Returns the key with this name in a job for the carrier. The members of an FCM message have two spellings.
    static func named(_ name: String, for carrier: Carrier) -> JobKey? {
        if let key = JobKey(rawValue: name) { return key }
        guard carrier == .fcm, let field = MessageType.message.field(named: name) else { return nil }
        return JobKey(rawValue: field.name)
    }

    /// The subject of a key, which determines where it may appear.
    enum Part: Sendable {
        /// The recipients: top level of a document.
        case recipients
        /// The job as a whole: top level of a document, or `job` in a first line.
        case job
        /// Delivery and payload: anywhere except in `job`.
        case delivery
        /// One recipient: in `recipients`, or beside the one recipient of a document.
        case recipient
    }

    /// Returns the subject of the key in a job for the carrier; `nil` if it belongs to an app of another protocol.
    func part(for carrier: Carrier) -> Part? {
        let isFCM = carrier == .fcm
        switch self {
        case .token, .tokens, .recipients, .payloads: return .recipients
        case .id, .count, .strict, .lane, .record, .notBefore, .giveUpAfter, .onDoubt: return .job
        case .priority, .expiration, .collapseID, .payload, .alert, .badge, .sound, .custom: return .delivery
        case .registeredAt: return .recipient
        case .topic: return isFCM ? .recipients : .delivery
        case .channel: return isFCM ? nil : .recipients
        case .pushType, .category, .threadID, .contentAvailable, .mutableContent, .interruptionLevel:
            return isFCM ? nil : .delivery
        case .apnsID: return isFCM ? nil : .recipient
        case .fid, .fids, .condition: return isFCM ? .recipients : nil
        case .notification, .data, .android, .androidV2, .apns, .webpush, .fcmOptions, .image, .tag, .icon, .color,
            .channelID, .clickAction:
            return isFCM ? .delivery : nil
        }
    }

    /// The remedy for a key in a job for an app of another protocol.
    private var remedy: String {
        switch self {
        case .channel: "FCM has no broadcast channels; use `topic`"
        case .pushType: "remove it: FCM has no push types"
        case .apnsID: "remove it: FCM takes no id of ours; `collapse_id` lets a repetition replace the first"
        case .category: "use `click_action`"
        case .threadID: "use `tag`"
        case .interruptionLevel: "use `channel_id`, whose channel has an importance"
        case .contentAvailable: "remove it; a message without `alert` shows nothing"
        case .mutableContent: "remove it, or use `android_v2`"
        case .fid, .fids, .condition: "drop the job into an app with protocol: fcm"
        case .notification: "use `alert`, or drop the job into an app with protocol: fcm"
        case .data: "use `custom`, or drop the job into an app with protocol: fcm"
        case .apns: "use `payload`, or drop the job into an app with protocol: fcm"
        case .image: "put its address into `custom`, and set `mutable_content`"
        case .tag: "use `collapse_id` or `thread_id`"
        case .channelID: "use `interruption_level`"
        case .clickAction: "use `category`"
        case .android, .androidV2, .webpush, .fcmOptions, .icon, .color:
            "remove it: it means nothing to Apple's devices"
        case .token, .tokens, .recipients, .payloads, .id, .count, .strict, .lane, .record, .notBefore, .giveUpAfter,
            .onDoubt, .topic, .priority, .expiration, .collapseID, .payload, .alert, .badge, .sound, .custom,
            .registeredAt:
            "remove it"
        }
    }

    /// Returns the fault of the key, at this node, in a job for an app of another protocol.
    fileprivate func belongsElsewhere(_ node: Node, _ carrier: Carrier) -> Diagnostic {
        let home = carrier == .fcm ? "an APNs app" : "an FCM app"
        return Diagnostic("the key `\(rawValue)` belongs to \(home)", hint: remedy, at: node.place)
    }
}

/// A mapping that contains keys of a job file.
enum JobScope: Sendable {
    /// The top level of a document.
    case document
    /// `job` in the first line of a `.jsonl` file.
    case jobOfLines
    /// `defaults` in the first line of a `.jsonl` file.
    case defaultsOfLines
    /// One recipient.
    case recipient

    /// Returns the key with this name and its subject; `nil` if it may not appear here, in a job for the carrier.
    func key(_ name: String, for carrier: Carrier) -> (key: JobKey, part: JobKey.Part)? {
        guard let key = JobKey.named(name, for: carrier), let part = key.part(for: carrier), allows(key, part) else {
            return nil
        }
        return (key, part)
    }

    private func allows(_ key: JobKey, _ part: JobKey.Part) -> Bool {
        switch (self, part) {
        case (.document, .recipients), (.document, .job), (.document, .delivery): true
        case (.jobOfLines, .job), (.defaultsOfLines, .delivery): true
        case (.recipient, .delivery), (.recipient, .recipient): true
        case (.recipient, .recipients): key == .token || key == .fid
        case (.document, .recipient): key == .apnsID
        case (.jobOfLines, _), (.defaultsOfLines, _), (.recipient, .job): false
        }
    }

    /// Returns a hint about the right place for a key that is known but not allowed here.
    private func home(of key: JobKey, _ part: JobKey.Part) -> String {
        switch part {
        case .recipients where [.channel, .topic, .condition].contains(key): "write a document for each \(key.rawValue)"
        case .recipients: self == .recipient ? "give each recipient one `token`" : "put recipients on the lines below"
        case .job: self == .recipient ? "set it once for the whole job" : "put it into `job`"
        case .delivery: "put it into `defaults`"
        case .recipient: "set it for single recipients, in `recipients`"
        }
    }

    /// Returns a diagnostic for a key that is not allowed here, with the user's likely intention as a hint.
    func refusal(of key: Node, for carrier: Carrier) -> Diagnostic {
        let name = Diagnostic.quoted(key.text)
        if let known = JobKey.named(key.text, for: carrier) {
            guard let part = known.part(for: carrier) else { return known.belongsElsewhere(key, carrier) }
            return Diagnostic("the key \(name) is not allowed here", hint: home(of: known, part), at: key.place)
        }
        let candidates = JobKey.allCases.filter { key in key.part(for: carrier).map { allows(key, $0) } ?? false }
            .map(\.rawValue)
        let hint: String
        if carrier == .fcm, key.text == "message" {
            hint = "write the members of the message here, or put them under `payload`"
        } else if carrier == .fcm, key.text == "aps" {
            hint = "use `alert`, or put it under `apns: {payload: …}`"
        } else if let near = Nearest.word(to: key.text, among: candidates) {
            hint = "did you mean `\(near)`?"
        } else if ["aps", "mdm"].contains(key.text) {
            hint = "put the whole message under `payload`"
        } else {
            hint = "put custom keys under `custom`; known keys: \(candidates.joined(separator: ", "))"
        }
        return Diagnostic("the key \(name) is unknown", hint: hint, at: key.place)
    }
}
