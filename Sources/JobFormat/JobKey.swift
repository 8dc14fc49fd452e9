import Document

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

    /// The subject of the key.
    var part: Part {
        switch self {
        case .token, .tokens, .recipients, .payloads, .channel: .recipients
        case .id, .count, .strict, .lane, .record, .notBefore, .giveUpAfter, .onDoubt: .job
        case .topic, .priority, .expiration, .pushType, .collapseID, .payload, .alert, .badge, .sound, .category,
            .custom, .threadID, .contentAvailable, .mutableContent, .interruptionLevel:
            .delivery
        case .registeredAt, .apnsID: .recipient
        }
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

    /// Whether the key may appear here.
    func allows(_ key: JobKey) -> Bool {
        switch (self, key.part) {
        case (.document, .recipients), (.document, .job), (.document, .delivery): true
        case (.jobOfLines, .job), (.defaultsOfLines, .delivery): true
        case (.recipient, .delivery), (.recipient, .recipient): true
        case (.recipient, .recipients): key == .token
        case (.document, .recipient): key == .apnsID
        case (.jobOfLines, _), (.defaultsOfLines, _), (.recipient, .job): false
        }
    }

    /// Returns a hint about the right place for a key that is known but not allowed here.
    private func home(of key: JobKey) -> String {
        switch key.part {
        case .recipients where key == .channel: "write a document for each channel"
        case .recipients: self == .recipient ? "give each recipient one `token`" : "put recipients on the lines below"
        case .job: self == .recipient ? "set it once for the whole job" : "put it into `job`"
        case .delivery: "put it into `defaults`"
        case .recipient: "set it for single recipients, in `recipients`"
        }
    }

    /// Returns a diagnostic for a key that is not allowed here, with the user's likely intention as a hint.
    func refusal(of key: Node) -> Diagnostic {
        let name = Diagnostic.quoted(key.text)
        if let known = JobKey(rawValue: key.text) {
            return Diagnostic("the key \(name) is not allowed here", hint: home(of: known), at: key.place)
        }
        let candidates = JobKey.allCases.filter(allows).map(\.rawValue)
        let hint: String
        if let near = Nearest.word(to: key.text, among: candidates) {
            hint = "did you mean `\(near)`?"
        } else if ["aps", "mdm"].contains(key.text) {
            hint = "put the whole message under `payload`"
        } else {
            hint = "put custom keys under `custom`; known keys: \(candidates.joined(separator: ", "))"
        }
        return Diagnostic("the key \(name) is unknown", hint: hint, at: key.place)
    }
}
