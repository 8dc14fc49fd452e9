import APNSModel
import Document

/// Our names for what makes a recipient impossible: the gateway's own words where it has one.
enum Reason: String, CaseIterable, Sendable {
    case badDeviceToken = "BadDeviceToken"
    case missingDeviceToken = "MissingDeviceToken"
    case payloadTooLarge = "PayloadTooLarge"
    case payloadEmpty = "PayloadEmpty"
    case badPayload = "BadPayload"
    case badTopic = "BadTopic"
    case missingTopic = "MissingTopic"
    case badPriority = "BadPriority"
    case badExpirationDate = "BadExpirationDate"
    case badCollapseID = "BadCollapseId"
    case invalidPushType = "InvalidPushType"
    case badValue = "BadValue"

    /// The refusal it makes: never sent, so without a status.
    var refusal: Refusal {
        switch self {
        case .badDeviceToken, .missingDeviceToken: Refusal(status: nil, reason: rawValue, verdict: .invalid)
        case .payloadTooLarge, .payloadEmpty, .badPayload, .badTopic, .missingTopic, .badPriority, .badExpirationDate,
            .badCollapseID, .invalidPushType, .badValue:
            Refusal(status: nil, reason: rawValue, verdict: .message)
        }
    }
}

/// Something wrong with a recipient, or with what all share.
struct Fault: Hashable, Sendable {
    let reason: Reason
    var diagnostic: Diagnostic
}

/// Where the keys being read stand, so that a path is only built for a fault.
enum PathBase: Hashable, Sendable {
    /// The top of a document, or a line.
    case root
    /// A member of the first line.
    case member(String)
    /// An element of a list.
    case element(of: String, at: Int)

    /// Whether it is a payload of a list: its keys are the app's.
    var isPayload: Bool {
        guard case .element(JobKey.payloads.rawValue, _) = self else { return false }
        return true
    }

    /// The path of a key here; with an empty key of the place itself.
    func path(of key: String) -> String {
        switch self {
        case .root: key
        case .member(let name): key.isEmpty ? name : "\(name).\(key)"
        case .element(let list, let index): key.isEmpty ? "\(list)[\(index)]" : "\(list)[\(index)].\(key)"
        }
    }
}

/// What is found while one mapping is read: nothing, as a rule, and then it costs nothing.
///
/// Only what the report has room for is put into words; the rest is counted. So a file costs as much as its bytes, however
/// much is wrong with it.
struct Findings: Sendable {
    let base: PathBase
    /// How many faults, and how many warnings, are put into words.
    let room: Int
    private(set) var faults: [Fault] = []
    private(set) var warnings: [Diagnostic] = []
    /// How many more faults and warnings there are.
    private(set) var unworded = (faults: 0, warnings: 0)
    /// What the first fault is, and what kinds there are.
    private(set) var firstReason: Reason?
    private(set) var reasons: Set<Reason> = []

    init(at base: PathBase, room: Int) {
        self.base = base
        self.room = room
    }

    /// Whether there is no fault.
    var isFaultless: Bool { firstReason == nil }

    /// Adds a fault whose diagnostic has its path; it is asked for only if there is room.
    mutating func add(_ reason: Reason, whole diagnostic: @autoclosure () -> Diagnostic) {
        firstReason = firstReason ?? reason
        reasons.insert(reason)
        guard faults.count < room else { return unworded.faults += 1 }
        faults.append(Fault(reason: reason, diagnostic: diagnostic()))
    }

    /// Adds a fault of a key here; its diagnostic is asked for only if there is room.
    mutating func add(_ reason: Reason, _ diagnostic: @autoclosure () -> Diagnostic, about key: String) {
        let base = base
        add(reason, whole: diagnostic().about(base.path(of: key)))
    }

    /// Adds a warning about a key here; it is asked for only if there is room.
    mutating func warn(_ diagnostic: @autoclosure () -> Diagnostic, about key: String) {
        guard warnings.count < room else { return unworded.warnings += 1 }
        var warning = diagnostic().about(base.path(of: key))
        warning.severity = .warning
        warnings.append(warning)
    }

    mutating func add(contentsOf other: Findings) {
        firstReason = firstReason ?? other.firstReason
        reasons.formUnion(other.reasons)
        let taken = (other.faults.prefix(room - faults.count), other.warnings.prefix(room - warnings.count))
        faults += taken.0
        warnings += taken.1
        unworded.faults += other.unworded.faults + other.faults.count - taken.0.count
        unworded.warnings += other.unworded.warnings + other.warnings.count - taken.1.count
    }

    /// The same of what has no lines of its own: all is at this place.
    func moved(to place: Place?) -> Findings {
        var copy = self
        for index in faults.indices { copy.faults[index].diagnostic.place = place }
        for index in warnings.indices { copy.warnings[index].place = place }
        return copy
    }

    mutating func expected(_ what: String, _ node: Node, reason: Reason, about key: String) {
        add(reason, Diagnostic("expected \(what), found \(node.kindName)", at: node.place), about: key)
    }
}
