import PushModel

/// A payload given by shorthands: the JSON of each value, in a fixed order. An empty value deliberately omits the member.
struct PayloadParts: Hashable, Sendable {
    /// The shorthands for members of `aps`, in the order of the output.
    static let order: [(key: JobKey, member: APSKey)] = [
        (.alert, .alert), (.badge, .badge), (.sound, .sound), (.threadID, .threadID), (.category, .category),
        (.contentAvailable, .contentAvailable), (.mutableContent, .mutableContent),
        (.interruptionLevel, .interruptionLevel),
    ]

    /// By position in `order`; no elements before the first shorthand, as in jobs with a whole payload.
    private var values: [[UInt8]?] = []
    /// The members of `custom`, without its braces.
    private var custom: [UInt8]?

    /// Whether no shorthand was given.
    var isEmpty: Bool { custom == nil && values.allSatisfy { $0 == nil } }

    /// The number of bytes in all values, without their names.
    var byteCount: Int { values.reduce(custom?.count ?? 0) { $0 + ($1?.count ?? 0) } }

    mutating func set(_ key: JobKey, _ json: [UInt8]) {
        if key == .custom {
            custom = Array(json.dropFirst().dropLast())
        } else if let position = Self.order.firstIndex(where: { $0.key == key }) {
            if values.isEmpty { values = Array(repeating: nil, count: Self.order.count) }
            values[position] = json
        } else {
            preconditionFailure("\(key.rawValue) has no place in PayloadParts.order")
        }
    }

    /// Returns these parts, replaced by those of `other` where it has them.
    func overlaid(by other: PayloadParts) -> PayloadParts {
        var parts = self
        if values.isEmpty { parts.values = other.values }
        for (position, value) in other.values.enumerated() where value != nil { parts.values[position] = value }
        parts.custom = other.custom ?? custom
        return parts
    }

    /// Returns the payload: `aps` with the shorthands, omitted if there are none, then the members of `custom`.
    func compiled() -> CompiledPayload {
        var facts: PayloadFacts = []
        var keys: [PlacedKey] = []
        var bytes: [UInt8] = []
        bytes.reserveCapacity(128)
        for (position, value) in values.enumerated() {
            guard let value, !value.isEmpty else { continue }
            bytes += facts.isEmpty ? Self.opening : Self.comma
            bytes += Self.keys[position]
            bytes += value
            let (shorthand, member) = Self.order[position]
            facts.formUnion([.aps, member.fact])
            if !member.isOrdinary { keys.append(PlacedKey(member, as: shorthand)) }
        }
        bytes.append(UInt8(ascii: facts.isEmpty ? "{" : "}"))
        if let custom, !custom.isEmpty {
            if !facts.isEmpty { bytes += Self.comma }
            bytes += custom
        }
        bytes.append(UInt8(ascii: "}"))
        return CompiledPayload(payload: Payload(bytes: bytes), facts: facts, keys: keys, isOfParts: true)
    }

    private static let opening = Array("{\"aps\":{".utf8)
    private static let comma = [UInt8(ascii: ",")]
    /// Each member's name with quotes and colon, in the order of `order`.
    private static let keys = order.map { Array("\"\($0.member.rawValue)\":".utf8) }
}
