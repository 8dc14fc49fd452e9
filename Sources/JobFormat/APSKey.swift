import Document

/// The type that a member of `aps` or `alert` must have (Apple, "Generating a remote notification").
enum APSType: Sendable {
    case string, integer, number, flag, truth, object, strings, alert, sound, event
    /// A string, or an object in a Live Activity.
    case label
    /// A string or null.
    case stringOrNull
    /// Strings or null.
    case stringsOrNull

    /// The type in words, for messages.
    func expectation(for node: Node) -> String {
        switch self {
        case .string: "a string"
        case .integer: "a whole number, 0 or greater"
        case .number: "a number"
        case .flag: "the number 1"
        case .truth: "true"
        case .object: node.mappingName
        case .strings: "\(node.sequenceName) of strings"
        case .alert: "a string or \(node.mappingName)"
        case .sound: "a string or \(node.mappingName) with critical, name and volume"
        case .event: "`start`, `update` or `end`"
        case .label: "a string or \(node.mappingName) with loc-key"
        case .stringOrNull: "a string or null"
        case .stringsOrNull: "\(node.sequenceName) of strings or null"
        }
    }

    /// Whether a value has this type in the JSON that will be sent.
    func fits(_ node: Node) -> Bool {
        switch self {
        case .string: node.isPayloadString
        case .integer: (node.integer ?? -1) >= 0
        case .number: node.isPayloadNumber
        case .flag: node.integer == 1
        case .truth: node.boolean == true
        case .object: node.kind == .mapping
        case .strings: node.kind == .sequence && node.elements.allSatisfy(\.isPayloadString)
        case .alert, .sound, .label: node.isPayloadString || node.kind == .mapping
        case .event: node.isPayloadString && ["start", "update", "end"].contains(node.text)
        case .stringOrNull: node.isPayloadString || node.isNull
        case .stringsOrNull: APSType.strings.fits(node) || node.isNull
        }
    }

    /// Whether a value of another type is no reason to withhold the notification: the gateway takes it, and devices act as if
    /// the member was absent, or as if it had the type. See the decision on the values in `aps`.
    func tolerates(_ node: Node) -> Bool {
        if node.isNull { return true }
        switch self {
        case .string, .stringOrNull, .label, .integer, .number, .flag, .truth, .sound: return !node.isContainer
        case .strings, .stringsOrNull:
            return node.kind == .sequence && node.elements.allSatisfy { !$0.isContainer }
        case .object, .alert, .event: return false
        }
    }

    /// Marks the plain scalars of YAML that are strings because of this type.
    func collectStrings(in node: Node, into strings: inout Set<Int>) {
        switch self {
        case .string, .stringOrNull, .label, .alert, .sound, .event:
            if node.kind == .plain, !node.isNull { strings.insert(node.index) }
        case .strings, .stringsOrNull:
            for element in node.elements { APSType.string.collectStrings(in: element, into: &strings) }
        case .integer, .number, .flag, .truth, .object: break
        }
    }

    /// The remedy for common mistakes.
    func hint(for node: Node) -> String? {
        if node.isNull { return "omit the key" }
        switch self {
        case .flag: return "write 1, not \(node.text); omit the key to mean no"
        case .integer: return "write a number without quotes; 0 removes the badge"
        case .string, .number, .truth, .object, .strings, .alert, .sound, .event, .label, .stringOrNull,
            .stringsOrNull:
            return nil
        }
    }
}

/// The members of `aps` that Apple documents.
enum APSKey: String, CaseIterable, Sendable {
    case alert, badge, sound, category, timestamp, event, attributes
    case threadID = "thread-id"
    case contentAvailable = "content-available"
    case mutableContent = "mutable-content"
    case targetContentID = "target-content-id"
    case interruptionLevel = "interruption-level"
    case relevanceScore = "relevance-score"
    case filterCriteria = "filter-criteria"
    case staleDate = "stale-date"
    case contentState = "content-state"
    case dismissalDate = "dismissal-date"
    case attributesType = "attributes-type"
    case inputPushToken = "input-push-token"
    case inputPushChannel = "input-push-channel"
    case contentChanged = "content-changed"
    case urlArgs = "url-args"
    case summaryArg = "summary-arg"
    case summaryArgCount = "summary-arg-count"

    /// The type of its value.
    var type: APSType {
        switch self {
        case .alert: .alert
        case .badge, .summaryArgCount: .integer
        case .sound: .sound
        case .category, .threadID, .targetContentID, .interruptionLevel, .filterCriteria, .attributesType,
            .inputPushChannel, .summaryArg:
            .string
        case .contentAvailable, .mutableContent, .inputPushToken: .flag
        case .relevanceScore, .staleDate, .timestamp, .dismissalDate: .number
        case .contentState, .attributes: .object
        case .event: .event
        case .contentChanged: .truth
        case .urlArgs: .strings
        }
    }

    /// The fact that its presence establishes.
    var fact: PayloadFacts {
        switch self {
        case .alert: .alert
        case .badge: .badge
        case .sound: .sound
        case .contentAvailable: .contentAvailable
        case .mutableContent: .mutableContent
        case .event: .event
        case .timestamp: .timestamp
        case .contentState: .contentState
        case .attributes: .attributes
        case .attributesType: .attributesType
        case .inputPushToken: .inputPushToken
        case .inputPushChannel: .inputPushChannel
        case .category, .threadID, .targetContentID, .interruptionLevel, .relevanceScore, .filterCriteria, .staleDate,
            .dismissalDate, .contentChanged, .urlArgs, .summaryArg, .summaryArgCount:
            .other
        }
    }
}

/// The members of an `alert` mapping that Apple documents.
enum AlertKey: String, CaseIterable, Sendable {
    case title, subtitle, body, action, sound
    case titleLocKey = "title-loc-key"
    case titleLocArgs = "title-loc-args"
    case subtitleLocKey = "subtitle-loc-key"
    case subtitleLocArgs = "subtitle-loc-args"
    case locKey = "loc-key"
    case locArgs = "loc-args"
    case launchImage = "launch-image"
    case actionLocKey = "action-loc-key"
    case summaryArg = "summary-arg"
    case summaryArgCount = "summary-arg-count"

    /// The type of its value.
    var type: APSType {
        switch self {
        case .title, .body: .label
        case .subtitle, .action, .sound, .subtitleLocKey, .locKey, .launchImage, .summaryArg: .string
        case .titleLocKey, .actionLocKey: .stringOrNull
        case .titleLocArgs: .stringsOrNull
        case .subtitleLocArgs, .locArgs: .strings
        case .summaryArgCount: .integer
        }
    }
}

extension Node {
    /// Whether the value becomes a JSON string where Apple wants one: in YAML any scalar does, such as `title: 1984`.
    var isPayloadString: Bool { kind == .string || kind == .plain && !isNull }

    /// Whether the value means yes where Apple wants the number 1; devices take `true` and `"1"` for it.
    var isPayloadYes: Bool {
        boolean == true || integer == 1 || (kind == .string || kind == .number) && Double(text) == 1
    }

    /// Whether the value becomes a JSON number.
    var isPayloadNumber: Bool {
        switch kind {
        case .number: return true
        case .plain:
            switch CoreSchema.resolve(bytes) {
            case .integer, .float: return true
            case .null, .boolean, .unwritable, .string: return false
            }
        case .mapping, .sequence, .key, .string, .true, .false, .null: return false
        }
    }
}
