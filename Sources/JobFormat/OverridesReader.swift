import APNSModel
import Document
import PushModel

/// Reads keys about delivery and payload, one after another, into overrides and findings.
struct OverridesReader {
    let context: JobContext
    private(set) var overrides = Overrides()
    var findings: Findings
    var parts = PayloadParts()
    /// The message, in a job of an FCM app.
    private var message: MessageReader?
    /// When the token was registered, if the recipient specifies it. Not a wish, but given in the same mapping.
    private(set) var registeredAt: WallTime?
    /// The recipient's own `apns-id`.
    private(set) var id: NotificationID?
    private var payloadKey: Node?
    private var shorthandKey: Node?

    /// Creates a reader that gives a message to at most `room` findings.
    init(_ context: JobContext, at base: PathBase, room: Int) {
        self.context = context
        self.findings = Findings(at: base, room: room)
        if context.carrier == .fcm { message = MessageReader() }
    }

    /// Reads one member, whose value is not null.
    mutating func read(_ key: JobKey, _ member: Member) {
        if message?.read(key, member, context, &findings) == true { return }
        let node = member.value
        switch key {
        case .topic: readTopic(node)
        case .pushType: readPushType(node)
        case .priority: context.carrier == .fcm ? readMessagePriority(node) : readPriority(node)
        case .expiration: readExpiration(node)
        case .collapseID: readCollapseID(node)
        case .payload:
            payloadKey = member.key
            readPayload(node)
        case .alert, .badge, .sound, .category, .custom, .threadID, .contentAvailable, .mutableContent,
            .interruptionLevel:
            shorthandKey = shorthandKey ?? member.key
            readShorthand(key, node)
        case .token, .tokens, .recipients, .payloads, .channel, .id, .count, .strict, .lane, .record, .notBefore,
            .giveUpAfter, .onDoubt, .registeredAt, .apnsID, .fid, .fids, .condition, .notification, .data, .android,
            .androidV2, .apns, .webpush, .fcmOptions, .image, .tag, .icon, .color, .channelID, .clickAction:
            preconditionFailure("not a key about delivery")
        }
    }

    /// Reads a key about the one recipient of the mapping.
    mutating func readRecipient(_ key: JobKey, _ node: Node) {
        switch key {
        case .apnsID:
            id = node.kind == .string || node.kind == .plain ? NotificationID(node.bytes.span) : nil
            if id == nil {
                let hint = "write a UUID such as 123e4567-e89b-12d3-a456-42665544000a, or omit it"
                add(.badMessageID, Diagnostic("is not a UUID", hint: hint, at: node.place), about: key.rawValue)
            }
        case .registeredAt:
            registeredAt = node.string.flatMap { WallTime(rfc3339: $0) }
            if registeredAt == nil {
                let expected = "a time such as 2026-11-22T06:00:00Z"
                findings.expected(expected, node, reason: .badValue, about: key.rawValue)
            }
        case .token, .tokens, .recipients, .payloads, .channel, .id, .count, .strict, .lane, .record, .notBefore,
            .giveUpAfter, .onDoubt, .topic, .priority, .expiration, .pushType, .collapseID, .payload, .alert, .badge,
            .sound, .category, .custom, .threadID, .contentAvailable, .mutableContent, .interruptionLevel, .fid, .fids,
            .condition, .notification, .data, .android, .androidV2, .apns, .webpush, .fcmOptions, .image, .tag, .icon,
            .color, .channelID, .clickAction:
            preconditionFailure("not a key about a recipient")
        }
    }

    /// Adds a finding about a key that is not an override.
    mutating func add(_ reason: FaultReason, _ diagnostic: @autoclosure () -> Diagnostic, about key: String) {
        findings.add(reason, diagnostic(), about: key)
    }

    /// Sets a whole payload.
    mutating func setPayload(_ payload: CompiledPayload) {
        overrides.payload = .whole(payload)
    }

    /// Combines the shorthands; `payload` and shorthands exclude each other.
    mutating func finish() {
        if let message {
            if let source = message.finish(&findings) { overrides.payload = .message(source) }
        } else if let payloadKey, let shorthandKey {
            let message = "`payload` and `\(shorthandKey.text)` cannot be combined"
            let later = payloadKey.index > shorthandKey.index ? payloadKey : shorthandKey
            let hint = "put everything into `payload`, or use only shorthands"
            add(.badPayload, Diagnostic(message, hint: hint, at: later.place), about: shorthandKey.text)
        } else if !parts.isEmpty {
            overrides.payload = .parts(parts)
        }
    }

    private mutating func readTopic(_ node: Node) {
        let key = JobKey.topic.rawValue
        guard let text = node.string else { return findings.expected("a string", node, reason: .badTopic, about: key) }
        let fault = PushTopic.fault(ofForm: text)
        if let fault, fault.isWarning {
            findings.warn(Diagnostic(fault.message, hint: fault.hint, at: node.place), about: key)
        }
        if let fault, !fault.isWarning {
            add(.badTopic, Diagnostic(fault.message, hint: fault.hint, at: node.place), about: key)
        } else if context.carrier.isBinary, text != context.topic {
            let message = "the certificate sets the topic" + (context.topic.map { ", \(Diagnostic.quoted($0))" } ?? "")
            let hint = "remove it, or drop the job into the app with that topic"
            add(.badTopic, Diagnostic(message, hint: hint, at: node.place), about: key)
        } else {
            overrides.topic = text
        }
    }

    private mutating func readPushType(_ node: Node) {
        let key = JobKey.pushType.rawValue
        guard let text = node.string else {
            return findings.expected("a push type", node, reason: .invalidPushType, about: key)
        }
        guard let type = PushType(rawValue: text) else {
            return add(.invalidPushType, Self.noPushType(text, node), about: key)
        }
        overrides.pushType = type
        if context.carrier.isBinary { warnNotCarried(key, node) }
    }

    private static func noPushType(_ text: String, _ node: Node) -> Diagnostic {
        let names = PushType.allCases.map(\.rawValue)
        let hint = Nearest.word(to: text, among: names).map { "did you mean `\($0)`?" }
        return Diagnostic(
            "unknown push type \(Diagnostic.quoted(text))", hint: hint ?? names.joined(separator: ", "),
            at: node.place)
    }

    private mutating func readPriority(_ node: Node) {
        let key = JobKey.priority.rawValue
        let allowed = context.carrier.isBinary ? "10 or 5" : "10, 5 or 1"
        guard let number = node.integer, let byte = UInt8(exactly: number), let priority = Priority(rawValue: byte),
            !context.carrier.isBinary || priority != .lowest
        else {
            return add(
                .badPriority,
                Diagnostic("must be \(allowed), unquoted (got \(Diagnostic.quoted(node.text)))", at: node.place),
                about: key)
        }
        overrides.priority = priority
        if !context.carrier.carriesPriority { warnNotCarried(key, node) }
    }

    /// Reads a priority of FCM's, which knows two.
    private mutating func readMessagePriority(_ node: Node) {
        let key = JobKey.priority.rawValue
        switch node.integer.map(String.init) ?? node.string {
        case "10", "high": overrides.priority = .immediate
        case "5", "normal": overrides.priority = .powerSaving
        default:
            let found = node.isContainer ? node.kindName : Diagnostic.quoted(node.text)
            add(
                .badPriority, Diagnostic("must be 10 or high, or 5 or normal (got \(found))", at: node.place),
                about: key)
        }
    }

    private mutating func readExpiration(_ node: Node) {
        let key = JobKey.expiration.rawValue
        guard let text = node.scalarText else {
            return findings.expected("a time", node, reason: .badExpirationDate, about: key)
        }
        do throws(TextFault) {
            overrides.expiration = try ExpirationText.parse(text, droppedAt: context.droppedAt)
        } catch {
            add(.badExpirationDate, Diagnostic(error.message, hint: error.hint, at: node.place), about: key)
        }
        if context.carrier == .simple { warnNotCarried(key, node) }
    }

    private mutating func readCollapseID(_ node: Node) {
        let key = JobKey.collapseID.rawValue
        guard let text = node.scalarText else {
            return findings.expected("a string", node, reason: .badCollapseID, about: key)
        }
        guard (1...64).contains(text.utf8.count) else {
            let message = "must have 1 to 64 bytes (got \(text.utf8.count))"
            return add(.badCollapseID, Diagnostic(message, at: node.place), about: key)
        }
        if let (message, hint) = FieldText.fault(of: text) {
            return add(.badCollapseID, Diagnostic(message, hint: hint, at: node.place), about: key)
        }
        overrides.collapseID = text
        if context.carrier.isBinary { warnNotCarried(key, node) }
    }

    private mutating func warnNotCarried(_ key: String, _ node: Node) {
        let message = context.carrier == .frame ? "the binary protocol" : "this format of the binary protocol"
        findings.warn(Diagnostic("is not supported by \(message)", hint: "remove it", at: node.place), about: key)
    }
}
