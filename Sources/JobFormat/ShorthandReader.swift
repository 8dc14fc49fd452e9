import Document
import FCMModel

/// Reads one shorthand of an FCM app's job.
struct ShorthandReader {
    private var inspector: MessageInspector
    /// The faults of the shorthand itself.
    private var own: Findings
    private var fragment = MessageShorthands.Fragment()

    /// Creates a reader that gives a message to at most `room` findings.
    init(_ context: JobContext, room: Int) {
        inspector = MessageInspector(context, room: room)
        own = Findings(at: .root, room: room)
    }

    /// All findings.
    var findings: Findings {
        var findings = own
        findings.add(contentsOf: inspector.findings)
        return findings
    }

    /// Returns what a shorthand contributes to the message; `nil` if it has a fault. Call it once.
    mutating func read(_ key: JobKey, _ node: Node, path: String) -> MessageShorthands.Fragment? {
        switch key {
        case .alert: readAlert(node, path)
        case .image: add("image", node, path: path, isForAll: true)
        case .custom: readCustom(node, path)
        case .badge: readBadge(node, path)
        case .sound where node.kind == .mapping:
            refuse(
                "must be text, found \(node.mappingName)", hint: "critical sounds are Apple's; write a name", node, path
            )
        default: add(key.rawValue, node, path: path)
        }
        return findings.isFaultless ? fragment : nil
    }

    /// The keys of Apple's `alert` that FCM has, too: with the member of its notification, for all platforms or for Android.
    static let alertKeys: KeyValuePairs<AlertKey, (name: String, isForAll: Bool)> = [
        .title: ("title", true), .body: ("body", true), .locKey: ("body_loc_key", false),
        .locArgs: ("body_loc_args", false), .titleLocKey: ("title_loc_key", false),
        .titleLocArgs: ("title_loc_args", false),
    ]

    private mutating func readAlert(_ node: Node, _ path: String) {
        guard node.kind == .mapping else {
            guard !node.isContainer else {
                return refuse("expected text or \(node.mappingName), found \(node.kindName)", hint: nil, node, path)
            }
            return add("body", node, path: path, isForAll: true)
        }
        for member in node.members where !member.value.isNull {
            let known = AlertKey(rawValue: member.key.text)
            if let (_, field) = Self.alertKeys.first(where: { $0.key == known }) {
                let path = "\(path).\(member.key.text)"
                add(field.name, member.value, path: path, isForAll: field.isForAll)
            } else {
                let near = Nearest.word(to: member.key.text, among: Self.alertKeys.map(\.key.rawValue))
                let guess = known == nil ? near.map { "did you mean `\($0)`?" } : nil
                let message = "FCM has nothing for the key \(Diagnostic.quoted(member.key.text))"
                refuse(message, hint: guess ?? "remove it", member.key, path)
            }
        }
    }

    /// Adds a value to the notification for all platforms, or to Android's.
    private mutating func add(
        _ name: String, _ node: Node, path: String, isForAll: Bool = false
    ) {
        let type = isForAll ? MessageType.notification : .androidNotification
        guard let field = type.field(named: name) else { return }
        inspector.inspect(node, field.type, path: path)
        guard let json = json(of: node, path) else { return }
        if isForAll {
            fragment.addNotification(name, json, byteCount: node.bytes.count)
        } else {
            fragment.addAndroid(name, json)
        }
    }

    private mutating func readBadge(_ node: Node, _ path: String) {
        guard let number = node.integer, (1...Int(Int32.max)).contains(number) else {
            let hint = "leave it out: FCM cannot remove a badge; launchers add one instead"
            let found = node.isContainer ? node.kindName : Diagnostic.quoted(node.text)
            return refuse(
                "must be a whole number, 1 or greater (got \(found))", hint: node.integer == 0 ? hint : nil, node, path)
        }
        fragment.addAndroid("notification_count", Array(String(number).utf8))
    }

    /// Turns each value into text, as `data` wants it: numbers and words as they stand in the file, others as JSON.
    private mutating func readCustom(_ node: Node, _ path: String) {
        guard node.kind == .mapping else {
            return refuse("expected \(node.mappingName), found \(node.kindName)", hint: nil, node, path)
        }
        var writer = JSONWriter()
        for member in node.members where !member.value.isNull {
            inspector.inspect(dataKey: member.key, path: path)
            let value = member.value
            let text = value.isContainer ? json(of: value, "\(path).\(member.key.text)") ?? [] : Array(value.bytes)
            writer.key(utf8: member.key.bytes)
            writer.string(utf8: text[...])
            writer.bytes.append(UInt8(ascii: ","))
            writer.startLine()
            fragment.dataByteCount += member.key.bytes.count + text.count
        }
        fragment.data = writer.bytes.dropLast()
    }

    private mutating func json(of node: Node, _ path: String) -> [UInt8]? {
        do throws(Diagnostic) {
            return try JSONText.bytes(of: node, asStrings: inspector.strings)
        } catch {
            own.add(.badPayload, whole: error.about(path))
            return nil
        }
    }

    private mutating func refuse(_ message: String, hint: String?, _ node: Node, _ path: String) {
        own.add(.badPayload, whole: Diagnostic(message, hint: hint, at: node.place).about(path))
    }
}
