import Document
import PushModel

extension OverridesReader {
    mutating func readPayload(_ node: Node) {
        let path = findings.base.path(of: JobKey.payload.rawValue)
        guard let compiled = Self.compile(node, path: path, context, &findings) else { return }
        setPayload(compiled)
    }

    /// Reads a whole payload for the context's carrier; `nil` if it has a fault.
    static func payload(
        _ node: Node, path: String, _ context: JobContext, _ findings: inout Findings
    ) -> Overrides.PayloadForm? {
        guard context.carrier == .fcm else {
            return compile(node, path: path, context, &findings).map(Overrides.PayloadForm.whole)
        }
        return MessageCompiler.payload(node, path: path, context, &findings).map { .message(.payload($0)) }
    }

    /// Compiles a payload for Apple into bytes; `nil` if it has a fault. A payload given as text is parsed as JSON.
    private static func compile(
        _ node: Node, path: String, _ context: JobContext, _ findings: inout Findings
    ) -> CompiledPayload? {
        let compiled = context.readPayload(node, path: path, &findings) { compile(mapping: $0, path: path, &$1) }
        return node.isContainer ? compiled : compiled?.moved(to: node.place)
    }

    private static func compile(mapping node: Node, path: String, _ findings: inout Findings) -> CompiledPayload? {
        var inspector = PayloadInspector(at: .root, room: findings.room)
        inspector.inspect(payload: node, path: path)
        findings.add(contentsOf: inspector.findings)
        guard let bytes = json(of: node, inspector, path: path, &findings), inspector.findings.isFaultless else {
            return nil
        }
        return CompiledPayload(payload: Payload(bytes: bytes), facts: inspector.facts, keys: inspector.keys)
    }

    private static func json(
        of node: Node, _ inspector: PayloadInspector? = nil, path: String, _ findings: inout Findings
    ) -> [UInt8]? {
        do throws(Diagnostic) {
            return try JSONText.bytes(of: node, asStrings: inspector?.strings ?? [])
        } catch {
            findings.add(.badPayload, whole: error.about(path))
            return nil
        }
    }

    mutating func readShorthand(_ key: JobKey, _ node: Node) {
        let path = findings.base.path(of: key.rawValue)
        var inspector = PayloadInspector(at: .root, room: findings.room)
        let json: [UInt8]?
        switch key {
        case .alert where node.kind == .mapping:
            inspector.inspect(alert: node, path: path)
            json = Self.json(of: node, inspector, path: path, &findings)
        case .sound where node.kind == .mapping:
            inspector.inspect(sound: node, path: path)
            json = Self.json(of: node, inspector, path: path, &findings)
        case .interruptionLevel:
            json = text(key, node)
            if json != nil { inspector.checkInterruptionLevel(node, path: path) }
        case .badge: json = badge(node)
        case .contentAvailable, .mutableContent: json = flag(key, node)
        case .custom: json = custom(node)
        default: json = text(key, node)
        }
        findings.add(contentsOf: inspector.findings)
        if let json { parts.set(key, json) }
    }

    private mutating func text(_ key: JobKey, _ node: Node) -> [UInt8]? {
        guard let text = node.string else {
            let expected = key == .alert || key == .sound ? "a string or \(node.mappingName)" : "a string"
            findings.expected(expected, node, reason: .badPayload, about: key.rawValue)
            return nil
        }
        if node.tape.format == .json { return Array(node.raw) }
        var writer = JSONWriter()
        writer.string(text)
        return writer.bytes
    }

    private mutating func badge(_ node: Node) -> [UInt8]? {
        guard let number = node.integer, number >= 0 else {
            findings.expected("a whole number, 0 or greater", node, reason: .badPayload, about: JobKey.badge.rawValue)
            return nil
        }
        return Array(String(number).utf8)
    }

    /// Returns 1 for true and 1. Returns an empty value for false and 0, which omits the member.
    private mutating func flag(_ key: JobKey, _ node: Node) -> [UInt8]? {
        if node.boolean == true || node.integer == 1 { return [UInt8(ascii: "1")] }
        if node.boolean == false || node.integer == 0 { return [] }
        findings.expected("true or false", node, reason: .badPayload, about: key.rawValue)
        return nil
    }

    private mutating func custom(_ node: Node) -> [UInt8]? {
        let key = JobKey.custom.rawValue
        guard node.kind == .mapping else {
            findings.expected(node.mappingName, node, reason: .badPayload, about: key)
            return nil
        }
        for member in node.members where member.key.isText("aps") || member.key.isText("mdm") {
            let hint = "use shorthands for `aps`, or write the whole `payload`"
            let diagnostic = Diagnostic("must not contain `\(member.key.text)`", hint: hint, at: member.key.place)
            add(.badPayload, diagnostic, about: key)
            return nil
        }
        return Self.json(of: node, path: findings.base.path(of: key), &findings)
    }
}
