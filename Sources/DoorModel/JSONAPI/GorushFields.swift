import Document

/// The fields of an object in a request to gorush, as Go's decoder of JSON gives them to gorush.
///
/// The case of names has no effect, of two spellings the last one counts, null is as good as nothing, and fields without a name in
/// the table are ignored (encoding/json, "Unmarshal"). A value of another type makes gorush refuse the whole request.
struct GorushFields {
    /// What a field may be.
    enum Kind {
        case string, boolean, integer, number, strings, object, stringOrObject

        func admits(_ node: Node) -> Bool {
            switch self {
            case .string: node.kind == .string
            case .boolean: node.kind == .true || node.kind == .false
            case .integer: node.integer != nil
            case .number: node.kind == .number
            case .strings: node.kind == .sequence && node.elements.allSatisfy { $0.kind == .string }
            case .object: node.kind == .mapping
            case .stringOrObject: node.kind == .string || node.kind == .mapping
            }
        }

        var words: String {
            switch self {
            case .string: "a string"
            case .boolean: "true or false"
            case .integer: "an integer of 64 bits"
            case .number: "a number"
            case .strings: "an array of strings"
            case .object: "an object"
            case .stringOrObject: "a string or an object"
            }
        }
    }

    /// The first field of another type, in words; `nil` if there is none.
    private(set) var fault: String?
    private var values: [String: Node] = [:]

    /// Reads an object.
    ///
    /// - Parameters:
    ///   - node: The object; `nil` has no fields.
    ///   - kinds: The fields that gorush knows, in lowercase.
    ///   - prefix: What precedes the names in messages.
    init(_ node: Node?, _ kinds: [String: Kind], prefix: String = "") {
        guard let node else { return }
        for member in node.members where !member.value.isNull {
            let name = member.key.text.lowercased()
            guard let kind = kinds[name] else { continue }
            values[name] = member.value
            guard fault == nil, !kind.admits(member.value) else { continue }
            fault = "\(prefix)\(name): expected \(kind.words), found \(member.value.kindName)"
        }
    }

    subscript(_ name: String) -> Node? { values[name] }

    /// The text of a field; `nil` if it is empty.
    func text(_ name: String) -> String? { values[name]?.string.flatMap { $0.isEmpty ? nil : $0 } }

    /// Whether a field is true.
    func isTrue(_ name: String) -> Bool { values[name]?.boolean == true }

    /// The value of a field, unless gorush leaves it out: an empty text, array or object, and a number that is not above zero.
    func value(_ name: String) -> Node? {
        guard let node = values[name] else { return nil }
        let isPresent =
            switch node.kind {
            case .string: !node.bytes.isEmpty
            case .mapping, .sequence: node.count > 0
            // No number above zero is without one of these digits before its exponent.
            case .number:
                node.raw.first != UInt8(ascii: "-")
                    && node.raw.prefix { $0 | 0x20 != UInt8(ascii: "e") }.contains { (0x31...0x39).contains($0) }
            case .true, .false, .null, .key, .plain: true
            }
        return isPresent ? node : nil
    }
}

extension GorushFields {
    /// The fields of a notification, for any platform.
    static let ofNotification: [String: Kind] = [
        "android": .object, "apns": .object, "condition": .string, "fcm_options": .object, "image": .string,
        "notification": .object, "webpush": .object,
        "apns_id": .string, "collapse_id": .string, "category": .string, "event": .string,
        "interruption_level": .string,
        "message": .string, "name": .string, "notif_id": .string, "priority": .string, "push_type": .string,
        "thread-id": .string, "title": .string, "to": .string, "topic": .string, "attributes-type": .string,
        "content_available": .boolean, "mutable_content": .boolean, "production": .boolean, "development": .boolean,
        "badge": .integer, "dismissal-date": .integer, "expiration": .integer, "platform": .integer, "retry": .integer,
        "stale-date": .integer, "timestamp": .integer, "relevance-score": .number, "volume": .number,
        "tokens": .strings, "url-args": .strings, "alert": .object, "attributes": .object, "content-state": .object,
        "data": .object, "sound": .stringOrObject,
    ]

    /// The fields of `alert`.
    static let ofAlert: [String: Kind] = [
        "action": .string, "action-loc-key": .string, "body": .string, "launch-image": .string, "loc-args": .strings,
        "loc-key": .string, "title": .string, "subtitle": .string, "title-loc-args": .strings, "title-loc-key": .string,
        "summary-arg": .string, "summary-arg-count": .integer,
    ]

    /// The fields of `sound`.
    static let ofSound: [String: Kind] = ["critical": .integer, "name": .string, "volume": .number]
}
