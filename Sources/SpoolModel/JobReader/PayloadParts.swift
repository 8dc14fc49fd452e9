import APNSModel
import Document

/// A payload given by shorthands: the JSON of each value, in a fixed order. No bytes leave a member out on purpose.
struct PayloadParts: Hashable, Sendable {
    /// The shorthands that become members of `aps`, in the order they are written in.
    static let order: [(key: JobKey, member: APSKey)] = [
        (.alert, .alert), (.badge, .badge), (.sound, .sound), (.threadID, .threadID), (.category, .category),
        (.contentAvailable, .contentAvailable), (.mutableContent, .mutableContent),
        (.interruptionLevel, .interruptionLevel),
    ]

    private var values = [[UInt8]?](repeating: nil, count: PayloadParts.order.count)
    /// The members of `custom` without its braces.
    private var custom: [UInt8]?

    /// Whether no shorthand was given.
    var isEmpty: Bool { custom == nil && values.allSatisfy { $0 == nil } }

    mutating func set(_ key: JobKey, _ json: [UInt8]) {
        if key == .custom {
            custom = Array(json.dropFirst().dropLast())
        } else if let position = Self.order.firstIndex(where: { $0.key == key }) {
            values[position] = json
        }
    }

    /// These, with those of `other` where it has them.
    func overlaid(by other: PayloadParts) -> PayloadParts {
        var parts = self
        for (position, value) in other.values.enumerated() where value != nil { parts.values[position] = value }
        parts.custom = other.custom ?? custom
        return parts
    }

    /// The payload they make: `aps` with the shorthands, left out when there are none, then the members of `custom`.
    func compiled() -> CompiledPayload {
        var facts: PayloadFacts = []
        var json = JSONWriter()
        for (position, value) in values.enumerated() {
            guard let value, !value.isEmpty else { continue }
            let member = Self.order[position].member
            if facts.isEmpty {
                json.raw("{\"aps\":{".utf8)
                json.startLine()
            }
            facts.formUnion([.aps, member.fact])
            json.key(member.rawValue)
            json.raw(value)
        }
        var bytes = json.bytes
        bytes.append(contentsOf: (facts.isEmpty ? "{" : "}").utf8)
        if let custom, !custom.isEmpty {
            if !facts.isEmpty { bytes.append(UInt8(ascii: ",")) }
            bytes.append(contentsOf: custom)
        }
        bytes.append(UInt8(ascii: "}"))
        return CompiledPayload(payload: Payload(bytes: bytes), facts: facts)
    }
}
