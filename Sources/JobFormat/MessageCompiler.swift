import Document
import FCMModel

/// Compiles members of an FCM message, and collects their faults.
struct MessageCompiler {
    private let context: JobContext
    /// The faults found, whose paths are complete.
    private(set) var findings: Findings

    /// Creates a compiler that gives a message to at most `room` findings.
    init(_ context: JobContext, room: Int) {
        self.context = context
        findings = Findings(at: .root, room: room)
    }

    /// Compiles a whole message without its address; `nil` if it has a fault. One given as text is parsed as JSON.
    static func payload(
        _ node: Node, path: String, _ context: JobContext, _ findings: inout Findings
    ) -> [MessageMember]? {
        context.readPayload(node, path: path, &findings) { node, findings in
            var compiler = MessageCompiler(context, room: findings.room)
            let members = compiler.compile(payload: node, path: path)
            findings.add(contentsOf: compiler.findings)
            return compiler.findings.isFaultless ? members : nil
        }
    }

    private mutating func compile(payload node: Node, path: String) -> [MessageMember] {
        guard node.kind == .mapping else {
            refuse("expected \(node.mappingName), found \(node.kindName)", hint: nil, node, path)
            return []
        }
        return node.members.compactMap { compile($0, of: node, path: path) }
    }

    /// Compiles a member of a whole message; `nil` if it is absent or has a fault.
    private mutating func compile(_ member: Member, of node: Node, path: String) -> MessageMember? {
        let name = member.key.text
        guard !member.value.isNull else { return nil }
        if let (message, hint) = Self.misplaced(name) {
            refuse(message, hint: hint, member.key, path)
            return nil
        }
        guard let field = MessageType.message.field(named: name) else { return compile(unknown: member, path: path) }
        // One that is null is not sent.
        if name != field.name, let other = node[field.name], !other.isNull {
            refuse("`\(name)` and `\(field.name)` are the same member", hint: "remove one", member.key, path)
        }
        return JobKey(rawValue: field.name).flatMap { compile(member, as: $0, path: "\(path).\(name)") }
    }

    /// Compiles a member that FCM is not known to have, if the app tolerates it.
    private mutating func compile(unknown member: Member, path: String) -> MessageMember? {
        var inspector = MessageInspector(context, room: findings.room)
        inspector.reportUnknown(member.key, in: .message, path: path)
        findings.add(contentsOf: inspector.findings)
        return inspector.findings.isFaultless ? convert(member, as: nil, path: path) : nil
    }

    /// Compiles a member of the message, whose value is not null; `nil` if it has a fault.
    mutating func compile(_ member: Member, as key: JobKey, path: String) -> MessageMember? {
        guard let field = MessageType.message.field(named: key.rawValue) else { return nil }
        var inspector = MessageInspector(context, room: findings.room)
        inspector.inspect(member.value, field.type, path: path)
        findings.add(contentsOf: inspector.findings)
        return inspector.findings.isFaultless
            ? convert(member, as: key, asStrings: inspector.strings, path: path) : nil
    }

    private mutating func convert(
        _ member: Member, as key: JobKey?, asStrings strings: Set<Int> = [], path: String
    ) -> MessageMember? {
        do throws(Diagnostic) {
            return try MessageMember(key, member, asStrings: strings)
        } catch {
            findings.add(.badPayload, whole: error.about(path))
            return nil
        }
    }

    private mutating func refuse(_ message: String, hint: String?, _ node: Node, _ path: String) {
        findings.add(.badPayload, whole: Diagnostic(message, hint: hint, at: node.place).about(path))
    }

    /// Returns why a member does not belong into a whole message, and the remedy.
    private static func misplaced(_ name: String) -> (message: String, hint: String)? {
        switch name {
        case "token", "fid", "topic", "condition":
            ("`\(name)` does not belong into a payload", "write it beside `payload`, where recipients are")
        case "name": ("`name` is FCM's own", "remove it: FCM sets it in its answer")
        case "message": ("`message` does not belong into a payload", "write the members of the message directly")
        case "aps": ("FCM has no member `aps` here", "put it under `apns.payload`, or use shorthands such as `alert`")
        default: nil
        }
    }
}
