import Document
import FCMModel

/// Checks what the values of a message mean to FCM, after their types: ranges, reserved keys, required members, size.
struct MeaningCheck {
    /// The documented limit of what an app receives, in bytes. FCM's own counting differs a little from case to case.
    private static let sizeLimit = 4_096

    /// The first fault found.
    private var fault: GoogleError?
    /// The names of the fields around the one being checked.
    private var path: [String] = ["message"]

    /// Returns why FCM refuses a message whose types are right; `nil` if it takes it.
    mutating func fault(in message: Node) -> GoogleError? {
        checkMembers(of: message, .message)
        if fault == nil, Self.size(of: message) > Self.sizeLimit || Self.applePayloadSize(of: message) > Self.sizeLimit
        {
            fault = GoogleError(
                400, "Message is too large. The maximum is 4K (4096 bytes).", .badRequest([]), .fcm(.invalidArgument))
        }
        return fault
    }

    private mutating func checkMembers(of node: Node, _ type: MessageType) {
        switch type {
        case .androidConfigV2: requireOne(of: ["remote_notification", "background_sync"], in: node, type)
        case .remoteNotification: requireAll(["notification"], in: node, type)
        case .lightSettings: requireAll(["color", "light_on_duration", "light_off_duration"], in: node, type)
        case _: break
        }
        for member in node.members where fault == nil && !member.value.isNull {
            guard let field = type.field(named: member.key.text) else { continue }
            path.append(field.name)
            check(member.value, field.type)
            path.removeLast()
        }
    }

    private mutating func check(_ value: Node, _ type: FieldType) {
        switch type {
        case .scalar(let type): check(value, type)
        case .list(let type): for element in value.elements { check(element, type) }
        case .message(let type): checkMembers(of: value, type)
        case .data:
            for member in value.members where DataKey.isReserved(member.key.text) {
                note("Invalid data payload key: \(member.key.text)")
            }
        case .headers, .object: break
        }
    }

    private mutating func check(_ value: Node, _ type: ScalarType) {
        guard !type.accepts(value) else { return }
        note("Invalid value for \(path.joined(separator: ".")): it must be \(type.form)")
    }

    private mutating func requireOne(of names: [String], in node: Node, _ type: MessageType) {
        guard names.count(where: { Self.member($0, of: node, type) != nil }) != 1 else { return }
        note("Exactly one of \(names.joined(separator: " and ")) must be set")
    }

    private mutating func requireAll(_ names: [String], in node: Node, _ type: MessageType) {
        for name in names where Self.member(name, of: node, type) == nil { note("\(name) must be set") }
    }

    private mutating func note(_ text: String) {
        if fault == nil { fault = .invalid(path.joined(separator: "."), text) }
    }

    /// The value of a member in either spelling, unless it is null.
    private static func member(_ name: String, of node: Node?, _ type: MessageType) -> Node? {
        guard let node else { return nil }
        for member in node.members where !member.value.isNull && type.field(named: member.key.text)?.name == name {
            return member.value
        }
        return nil
    }

    /// What counts against the limit: keys and values of `data`, of which Android's replaces the message's, and the strings of
    /// `notification`.
    private static func size(of message: Node) -> Int {
        let android = member("android", of: message, .message)
        let data = member("data", of: android, .androidConfig) ?? member("data", of: message, .message)
        let notification = member("notification", of: message, .message)
        let dataSize = data?.members.reduce(0) { $0 + $1.key.bytes.count + $1.value.bytes.count } ?? 0
        return dataSize + (notification?.members.reduce(0) { $0 + $1.value.bytes.count } ?? 0)
    }

    /// The size of the payload for Apple's gateway, whose limit holds for it.
    private static func applePayloadSize(of message: Node) -> Int {
        let apns = member("apns", of: message, .message)
        return member("payload", of: apns, .apnsConfig)?.raw.count ?? 0
    }
}
