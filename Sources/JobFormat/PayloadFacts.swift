import Document
import PushModel

/// The facts about a payload that the delivery rules need.
struct PayloadFacts: OptionSet, Hashable, Sendable {
    let rawValue: UInt32

    /// Has an `aps` member.
    static let aps = PayloadFacts(rawValue: 1 << 0)
    static let alert = PayloadFacts(rawValue: 1 << 1)
    static let badge = PayloadFacts(rawValue: 1 << 2)
    static let sound = PayloadFacts(rawValue: 1 << 3)
    static let contentAvailable = PayloadFacts(rawValue: 1 << 4)
    static let mutableContent = PayloadFacts(rawValue: 1 << 5)
    static let event = PayloadFacts(rawValue: 1 << 6)
    /// The event is `start`.
    static let start = PayloadFacts(rawValue: 1 << 7)
    static let timestamp = PayloadFacts(rawValue: 1 << 8)
    static let contentState = PayloadFacts(rawValue: 1 << 9)
    static let attributes = PayloadFacts(rawValue: 1 << 10)
    static let attributesType = PayloadFacts(rawValue: 1 << 11)
    /// Any other member of `aps`.
    static let other = PayloadFacts(rawValue: 1 << 12)
    /// The event is `end`.
    static let end = PayloadFacts(rawValue: 1 << 14)
    /// The relevance score is below 0 or above 1.
    static let wideRelevance = PayloadFacts(rawValue: 1 << 15)
    static let inputPushToken = PayloadFacts(rawValue: 1 << 16)
    static let inputPushChannel = PayloadFacts(rawValue: 1 << 17)
    /// Has an `mdm` member, whose value is the device's push magic.
    static let mdm = PayloadFacts(rawValue: 1 << 13)

    /// Whether `aps` contains only `content-available`: the user notices nothing.
    var isSilent: Bool { self == [.aps, .contentAvailable] || self == [.aps, .contentAvailable, .mdm] }
}

/// A compiled payload and the facts about it.
struct CompiledPayload: Hashable, Sendable {
    let payload: Payload
    let facts: PayloadFacts
    /// The members of `aps` that are not in every ordinary alert.
    var keys: [PlacedKey] = []
    /// Whether it was made of shorthands.
    var isOfParts = false

    /// Whether it is `{}`.
    var isEmptyObject: Bool { payload.bytes.count == 2 }

    /// Returns the same payload, with all members located at this place, for text without line numbers of its own.
    func moved(to place: Place?) -> CompiledPayload {
        var copy = self
        for index in keys.indices { copy.keys[index].place = place }
        return copy
    }
}
