import Document
import PushModel

/// Reads the keys about the message of an FCM app's job, one after another: `payload`, members of the message, or shorthands.
struct MessageReader {
    /// The first key of each way to write a message that was read.
    private var (payloadKey, memberKey, shorthandKey) = (Node?.none, Node?.none, Node?.none)
    private var payload: [MessageMember]?
    private var members: [MessageMember] = []
    private var shorthands = MessageShorthands()

    /// Reads one member, whose value is not null.
    ///
    /// - Returns: Whether its key is about the message.
    mutating func read(_ key: JobKey, _ member: Member, _ context: JobContext, _ findings: inout Findings) -> Bool {
        let path = findings.base.path(of: member.key.text)
        switch key {
        case .payload:
            payloadKey = member.key
            payload = MessageCompiler.payload(member.value, path: path, context, &findings)
        case .notification, .data, .android, .androidV2, .apns, .webpush, .fcmOptions:
            memberKey = memberKey ?? member.key
            readMember(key, member, context, &findings)
        case .alert, .badge, .sound, .custom, .image, .tag, .icon, .color, .channelID, .clickAction:
            shorthandKey = shorthandKey ?? member.key
            var reader = ShorthandReader(context, room: findings.room)
            if let fragment = reader.read(key, member.value, path: path) { shorthands.set(key, fragment) }
            findings.add(contentsOf: reader.findings)
        default: return false
        }
        return true
    }

    /// Returns the message, if there is one that has no fault. It must be written in one way.
    func finish(_ findings: inout Findings) -> MessageSource? {
        let keys = [payloadKey, memberKey, shorthandKey].compactMap(\.self).sorted { $0.index < $1.index }
        if keys.count > 1 {
            let message = "`\(keys[0].text)` and `\(keys[1].text)` cannot be combined"
            let hint = "write the message in one way: as `payload`, by its members, or by shorthands such as `alert`"
            findings.add(
                .badPayload, Diagnostic(message, hint: hint, at: keys[1].place), about: keys[1].text)
            return nil
        }
        if memberKey != nil { return .members(members.inOrder) }
        return shorthandKey == nil ? payload.map(MessageSource.payload) : .shorthands(shorthands)
    }

    private mutating func readMember(
        _ key: JobKey, _ member: Member, _ context: JobContext, _ findings: inout Findings
    ) {
        let name = member.key.text
        guard members[key] == nil else {
            let message = "`\(name)` is there in both spellings"
            return findings.add(
                .badPayload, Diagnostic(message, hint: "remove one", at: member.key.place), about: name)
        }
        var compiler = MessageCompiler(context, room: findings.room)
        if let compiled = compiler.compile(member, as: key, path: findings.base.path(of: name)) {
            members.append(compiled)
        }
        findings.add(contentsOf: compiler.findings)
    }
}
