import Document
import FCMModel

/// Checks an FCM message, as the user wrote it, against the table of its members.
///
/// FCM refuses a message for any name that it does not know and any value of another type, so these are faults. Paths are
/// built only for findings.
struct MessageInspector {
    private let toleratesUnknownFields: Bool
    private(set) var findings: Findings
    /// The indices of plain scalars of YAML that are sent as strings.
    private(set) var strings: Set<Int> = []

    /// Creates an inspector that gives a message to at most `room` findings, whose paths are complete.
    init(_ context: JobContext, room: Int) {
        toleratesUnknownFields = context.toleratesUnknownFields
        findings = Findings(at: .root, room: room)
    }

    /// Inspects a value, which is not null.
    mutating func inspect(_ node: Node, _ type: FieldType, path: @autoclosure () -> String) {
        switch type {
        case .scalar(let scalar): inspect(node, scalar, path: path())
        case .list(let scalar):
            guard node.kind == .sequence else { return expect(node.sequenceName, node, path()) }
            for (index, element) in node.elements.enumerated() {
                inspect(element, scalar, path: "\(path())[\(index)]")
            }
        case .data: inspect(data: node, path: path())
        case .headers:
            guard node.kind == .mapping else { return expect(node.mappingName, node, path()) }
            for member in node.members { inspect(text: member, hint: nil, path: path()) }
        case .object:
            guard node.kind == .mapping else { return expect(node.mappingName, node, path()) }
        case .message(let type):
            guard node.kind == .mapping else { return expect(node.mappingName, node, path()) }
            for member in node.members { inspect(member, of: type, beside: node, path: path()) }
            checkTogether(type, node, path: path())
        }
    }

    /// Inspects the key of an entry in `data`.
    mutating func inspect(dataKey key: Node, path: @autoclosure () -> String) {
        if DataKey.isReserved(key.text) {
            let hint = "choose another key; FCM also refuses from, message_type, google.* and gcm.notification.*"
            let message = "the key \(Diagnostic.quoted(key.text)) is reserved"
            findings.add(.badPayload, Diagnostic(message, hint: hint, at: key.place), about: path())
        } else if DataKey.wasReserved(key.text) {
            let message = "the key \(Diagnostic.quoted(key.text)) begins with google or gcm, which FCM once reserved"
            findings.warn(Diagnostic(message, hint: "choose another key", at: key.place), about: path())
        }
    }

    /// Reports a member that FCM does not have.
    mutating func reportUnknown(_ key: Node, in type: MessageType, path: @autoclosure () -> String) {
        let diagnostic = Self.unknown(key, in: type, hasRemedy: !toleratesUnknownFields)
        if toleratesUnknownFields {
            findings.warn(diagnostic, about: path())
        } else {
            findings.add(.badPayload, diagnostic, about: path())
        }
    }

    private static func unknown(_ key: Node, in type: MessageType, hasRemedy: Bool) -> Diagnostic {
        let near = Nearest.word(to: key.text, among: type.fields.map(\.name))
        let remedy = hasRemedy ? "remove it; if FCM has it now, set unknown_fields: warn in the app" : nil
        return Diagnostic(
            "FCM has no member \(Diagnostic.quoted(key.text)) here",
            hint: near.map { "did you mean `\($0)`?" } ?? remedy,
            at: key.place)
    }

    private mutating func inspect(
        _ member: Member, of type: MessageType, beside node: Node, path: @autoclosure () -> String
    ) {
        guard let field = type.field(named: member.key.text) else {
            return reportUnknown(member.key, in: type, path: path())
        }
        if !member.key.isText(field.name), node[field.name] != nil {
            let message = "`\(field.jsonName)` and `\(field.name)` are the same member"
            findings.add(.badPayload, Diagnostic(message, hint: "remove one", at: member.key.place), about: path())
        }
        guard !member.value.isNull else { return }
        inspect(member.value, field.type, path: join(path(), member.key.text))
    }

    private mutating func inspect(_ node: Node, _ type: ScalarType, path: @autoclosure () -> String) {
        guard !node.isNull, type.accepts(node) else { return expect(type.form, node, path()) }
        if type.isText, node.kind == .plain { strings.insert(node.index) }
    }

    private mutating func inspect(data node: Node, path: @autoclosure () -> String) {
        guard node.kind == .mapping else { return expect(node.mappingName, node, path()) }
        for member in node.members {
            inspect(dataKey: member.key, path: path())
            inspect(text: member, hint: Self.remedy(for: member.value), path: path())
        }
    }

    private static func remedy(for node: Node) -> String {
        if node.isNull { return "leave it out" }
        return node.isContainer ? "write it as JSON text; or use `custom`" : "write \"\(node.text)\"; or use `custom`"
    }

    private mutating func inspect(
        text member: Member, hint: @autoclosure () -> String?, path: @autoclosure () -> String
    ) {
        let node = member.value
        guard node.kind == .string || node.kind == .plain && !node.isNull else {
            let diagnostic = Diagnostic("must be text, found \(node.kindName)", hint: hint(), at: node.place)
            return findings.add(.badPayload, diagnostic, about: join(path(), member.key.text))
        }
        if node.kind == .plain { strings.insert(node.index) }
    }

    /// Checks which members stand together.
    private mutating func checkTogether(_ type: MessageType, _ node: Node, path: @autoclosure () -> String) {
        switch type {
        case .androidNotification, .androidNotificationV2:
            for name in ["body", "title"] where type.value("\(name)_loc_args", in: node) != nil {
                guard type.value("\(name)_loc_key", in: node) == nil else { continue }
                let message = "`\(name)_loc_args` has no effect without `\(name)_loc_key`"
                findings.warn(Diagnostic(message, hint: "add the key", at: node.place), about: path())
            }
        case .androidConfigV2:
            let count = ["remote_notification", "background_sync"].count { type.value($0, in: node) != nil }
            guard count != 1 else { return }
            let message = "must have either `remote_notification` or `background_sync`"
            findings.add(.badPayload, Diagnostic(message, at: node.place), about: path())
        case .remoteNotification: require(["notification"], of: type, in: node, path: path())
        case .lightSettings:
            require(["color", "light_on_duration", "light_off_duration"], of: type, in: node, path: path())
        case .message, .notification, .fcmOptions, .androidConfig, .backgroundSync, .color, .apnsConfig,
            .apnsFCMOptions, .webpushConfig, .webpushFCMOptions:
            break
        }
    }

    private mutating func require(
        _ names: [String], of type: MessageType, in node: Node, path: @autoclosure () -> String
    ) {
        for name in names where type.value(name, in: node) == nil {
            findings.add(.badPayload, Diagnostic("needs `\(name)`", hint: "add it", at: node.place), about: path())
        }
    }

    private mutating func expect(_ form: String, _ node: Node, _ path: @autoclosure () -> String) {
        let found = node.isContainer || node.isNull ? node.kindName : Diagnostic.quoted(node.text)
        findings.add(.badPayload, Diagnostic("expected \(form), found \(found)", at: node.place), about: path())
    }
}
