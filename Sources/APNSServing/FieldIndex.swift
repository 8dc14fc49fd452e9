import APNSModel
import HTTP2
import PushModel

/// A header field that a strict gateway knows.
enum KnownField: Int, CaseIterable {
    case method, scheme, authority, path, authorization, topic, pushType, id, expiration, priority, collapseID
    case channelID, requestID, contentType, contentLength, userAgent, accept, acceptEncoding

    private static let names: [[UInt8]] = [
        ":method", ":scheme", ":authority", ":path", "authorization", "apns-topic", "apns-push-type", "apns-id",
        "apns-expiration", "apns-priority", "apns-collapse-id", "apns-channel-id", "apns-request-id", "content-type",
        "content-length", "user-agent", "accept", "accept-encoding",
    ].map { Array($0.utf8) }

    /// The reason that refuses a request whose field of this name has a malformed value.
    static func reason(forMalformed name: String) -> Reason {
        switch named(Array(name.utf8)[...]) {
        case .topic: .badTopic
        case .pushType: .invalidPushType
        case .id: .badMessageID
        case .expiration: .badExpirationDate
        case .priority: .badPriority
        case .collapseID: .badCollapseID
        case .channelID: .badChannelID
        case .authorization: .invalidProviderToken
        default: .badRequestParams
        }
    }

    /// The fields by the length of their names.
    private static let byLength: [[KnownField]] = (0...16).map { length in
        allCases.filter { names[$0.rawValue].count == length }
    }

    /// Returns the field with this name.
    static func named(_ name: ArraySlice<UInt8>) -> KnownField? {
        guard name.count < byLength.count else { return nil }
        for field in byLength[name.count] where name.isSame(as: names[field.rawValue]) { return field }
        return nil
    }
}

/// The positions of the known fields in a request's head; reusable.
struct FieldIndex {
    private var places = [Int](repeating: -1, count: KnownField.allCases.count)
    /// Whether a name occurred more than once.
    private(set) var hasRepeated = false
    /// The first field that begins with `apns-` and is unknown.
    private(set) var strange: Int?

    /// Reads a list of fields.
    mutating func read(_ fields: HeaderFields) {
        for index in places.indices { places[index] = -1 }
        hasRepeated = false
        strange = nil
        var others: [ArraySlice<UInt8>] = []
        for index in 0..<fields.count {
            let name = fields.name(at: index)
            if let field = KnownField.named(name) {
                if places[field.rawValue] >= 0 { hasRepeated = true }
                places[field.rawValue] = index
            } else {
                if others.contains(name) { hasRepeated = true }
                others.append(name)
                if strange == nil, name.starts(with: Self.prefix) { strange = index }
            }
        }
    }

    private static let prefix = Array("apns-".utf8)

    /// Returns the value of a field, if the request has it.
    func value(_ field: KnownField, in fields: HeaderFields) -> ArraySlice<UInt8>? {
        let place = places[field.rawValue]
        return place < 0 ? nil : fields.value(at: place)
    }
}
