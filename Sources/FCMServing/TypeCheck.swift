import Document
import FCMModel

/// Checks a request's JSON against the types of its fields, as Google's front end does before FCM sees the request
/// (<https://protobuf.dev/programming-guides/json/>).
struct TypeCheck {
    private var violations: [GoogleError.Violation] = []
    /// The names of the fields around the one being checked.
    private var path: [String] = []

    private static let package = "type.googleapis.com/google.firebase.fcm.v1."

    /// All violations in one error; it has no detail of FCM's. `nil` if there is none.
    var error: GoogleError? {
        guard !violations.isEmpty else { return nil }
        return GoogleError(400, violations.map(\.text).joined(separator: "\n"), .badRequest(violations))
    }

    /// Checks a request. Returns its message, if it has one.
    mutating func checkRequest(_ request: Node) -> Node? {
        guard request.kind == .mapping else {
            note("Invalid JSON payload received. Unknown name \"\": Root element must be a message.", at: "")
            return nil
        }
        var message: Node?
        for member in request.members {
            switch member.key.text {
            case "message" where !member.value.isNull:
                message = member.value
                check(member.value, MessageType.message, named: "message")
            case "validate_only" where !member.value.isNull, "validateOnly" where !member.value.isNull:
                check(member.value, .scalar(.boolean), named: "validate_only")
            case "message", "validate_only", "validateOnly": break
            case let name: noteUnknown(name)
            }
        }
        return message?.kind == .mapping ? message : nil
    }

    private mutating func check(_ value: Node, _ type: FieldType, named name: String) {
        path.append(name)
        defer { path.removeLast() }
        switch type {
        case .scalar(let type): check(value, type)
        case .list(let type): checkElements(of: value, type)
        case .data, .headers: checkMap(value)
        case .object: if value.kind != .mapping { noteInvalid("type.googleapis.com/google.protobuf.Struct", value) }
        case .message(let type): checkMembers(of: value, type)
        }
    }

    private mutating func check(_ value: Node, _ type: MessageType, named name: String) {
        check(value, .message(type), named: name)
    }

    private mutating func checkMembers(of value: Node, _ type: MessageType) {
        guard value.kind == .mapping else {
            return value.kind == .sequence ? noteList() : noteInvalid(Self.package + type.name, value)
        }
        var target: String?
        var names: Set<String> = []
        for member in value.members {
            guard let field = type.field(named: member.key.text) else {
                noteUnknown(member.key.text)
                continue
            }
            // What Google makes of both spellings of a name is not known; a client must not write them.
            if !names.insert(field.name).inserted { noteInvalid("oneof", "'\(field.name)' is already set") }
            guard !member.value.isNull else { continue }
            if type == .message, MessageReading.targets.contains(where: { $0.name == field.name }) {
                if target != nil {
                    let place = path.joined(separator: ".")
                    note(
                        "Invalid value at '\(place)' (oneof), oneof field 'target' is already set. Cannot set '\(field.name)'",
                        at: place)
                }
                target = field.name
            }
            check(member.value, field.type, named: field.name)
        }
    }

    private mutating func checkElements(of value: Node, _ type: ScalarType) {
        guard value.kind == .sequence else { return noteInvalid(type.typeName, value) }
        let name = path.removeLast()
        for (place, element) in value.elements.enumerated() {
            path.append("\(name)[\(place)]")
            check(element, type)
            path.removeLast()
        }
        path.append(name)
    }

    private mutating func checkMap(_ value: Node) {
        guard value.kind == .mapping else {
            return value.kind == .sequence ? noteList() : noteInvalid("Map<string, string>", value)
        }
        for (place, member) in value.members.enumerated() where member.value.kind != .string {
            let name = path.removeLast()
            path += ["\(name)[\(place)]", "value"]
            noteInvalid(ScalarType.string.typeName, member.value)
            path.removeLast(2)
            path.append(name)
        }
    }

    private mutating func check(_ value: Node, _ type: ScalarType) {
        switch value.kind {
        case .sequence: noteList()
        case .mapping: noteInvalid(type.typeName, "Starting an object on a scalar field")
        case .string, .number, .true, .false, .null, .key, .plain:
            if !type.hasForm(of: value) { noteInvalid(type.typeName, value) }
        }
    }

    private mutating func noteInvalid(_ type: String, _ value: Node) {
        noteInvalid(type, String(decoding: value.raw.prefix(100), as: UTF8.self))
    }

    private mutating func noteInvalid(_ type: String, _ value: String) {
        let place = path.joined(separator: ".")
        note("Invalid value at '\(place)' (\(type)), \(value)", at: place)
    }

    private mutating func noteList() {
        let (name, place) = (path.last ?? "", path.dropLast().joined(separator: "."))
        note(
            "Invalid JSON payload received. Unknown name \"\(name)\" at '\(place)': Proto field is not repeating, cannot start list.",
            at: place)
    }

    private mutating func noteUnknown(_ name: String) {
        let place = path.joined(separator: ".")
        let at = place.isEmpty ? "" : " at '\(place)'"
        note("Invalid JSON payload received. Unknown name \"\(name)\"\(at): Cannot find field.", at: place)
    }

    private mutating func note(_ text: String, at place: String) {
        violations.append(GoogleError.Violation(place, text))
    }
}

extension ScalarType {
    /// The name of the type in Google's errors.
    fileprivate var typeName: String {
        let package = "type.googleapis.com/google.firebase.fcm.v1."
        return switch self {
        case .string, .color, .analyticsLabel, .link: "TYPE_STRING"
        case .boolean: "TYPE_BOOL"
        case .int32: "TYPE_INT32"
        case .fraction: "TYPE_FLOAT"
        case .duration, .lifetime: "type.googleapis.com/google.protobuf.Duration"
        case .timestamp: "type.googleapis.com/google.protobuf.Timestamp"
        case .choice(.messagePriority): package + "AndroidMessagePriority"
        case .choice(.notificationPriority): package + "AndroidNotification.NotificationPriority"
        case .choice(.visibility): package + "AndroidNotification.Visibility"
        case .choice(.proxy): package + "AndroidNotification.Proxy"
        }
    }

    /// Whether a scalar has the form of the type. `accepts` also asks for FCM's own rules.
    fileprivate func hasForm(of value: Node) -> Bool {
        switch self {
        case .color, .analyticsLabel, .link: value.kind == .string
        case .lifetime: ScalarType.duration.accepts(value) || WireDuration.parse(value.bytes) != nil
        case .fraction: Double(value.text) != nil
        case .string, .boolean, .int32, .duration, .timestamp, .choice: accepts(value)
        }
    }
}

extension MessageType {
    /// The name of the type in Google's errors.
    fileprivate var name: String {
        switch self {
        case .message: "Message"
        case .notification: "Notification"
        case .fcmOptions: "FcmOptions"
        case .androidConfig: "AndroidConfig"
        case .androidConfigV2: "AndroidConfigV2"
        case .androidNotification: "AndroidNotification"
        case .androidNotificationV2: "AndroidNotificationV2"
        case .remoteNotification: "RemoteNotification"
        case .backgroundSync: "BackgroundSync"
        case .lightSettings: "LightSettings"
        case .color: "Color"
        case .apnsConfig: "ApnsConfig"
        case .apnsFCMOptions: "ApnsFcmOptions"
        case .webpushConfig: "WebpushConfig"
        case .webpushFCMOptions: "WebpushFcmOptions"
        }
    }
}
