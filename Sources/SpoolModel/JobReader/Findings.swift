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
struct Findings: Sendable {
    let base: PathBase
    private(set) var faults: [Fault] = []
    private(set) var warnings: [Diagnostic] = []

    init(at base: PathBase) {
        self.base = base
    }

    mutating func add(_ fault: Fault) {
        faults.append(fault)
    }

    mutating func add(_ reason: Reason, _ diagnostic: Diagnostic, about key: String) {
        faults.append(Fault(reason: reason, diagnostic: diagnostic.about(base.path(of: key))))
    }

    mutating func warn(_ diagnostic: Diagnostic, about key: String) {
        var warning = diagnostic.about(base.path(of: key))
        warning.severity = .warning
        warnings.append(warning)
    }

    mutating func add(contentsOf other: Findings) {
        faults += other.faults
        warnings += other.warnings
    }

    mutating func expected(_ what: String, _ node: Node, reason: Reason, about key: String) {
        add(reason, Diagnostic("expected \(what), found \(node.kindName)", at: node.place), about: key)
    }
}
