import APNSModel
import Document
import FCMModel
import PushModel

/// A reason for rejecting a recipient before anything is sent: Apple's own word where there is one.
struct FaultReason: Hashable, Sendable {
    static let badDeviceToken = FaultReason(Reason.badDeviceToken, .invalid)
    static let missingDeviceToken = FaultReason(Reason.missingDeviceToken, .invalid)
    static let badChannelID = FaultReason(Reason.badChannelID, .invalid)
    static let payloadTooLarge = FaultReason(Reason.payloadTooLarge, .message)
    static let payloadEmpty = FaultReason(Reason.payloadEmpty, .message)
    static let badTopic = FaultReason(Reason.badTopic, .message)
    static let missingTopic = FaultReason(Reason.missingTopic, .message)
    static let badMessageID = FaultReason(Reason.badMessageID, .message)
    static let badPriority = FaultReason(Reason.badPriority, .message)
    static let badExpirationDate = FaultReason(Reason.badExpirationDate, .message)
    static let badCollapseID = FaultReason(Reason.badCollapseID, .message)
    static let invalidPushType = FaultReason(Reason.invalidPushType, .message)
    static let badRequestPayload = FaultReason(Reason.badRequestPayload, .message)
    static let badPayload = FaultReason(LocalReason.badPayload, .message)
    static let badValue = FaultReason(LocalReason.badValue, .message)

    /// The refusal. It has no status, because nothing was sent.
    let refusal: Refusal

    /// Returns the refusal in the words of the gateway that the carrier leads to: FCM has one for a bad address, and none for
    /// the keys of a job.
    func refusal(by carrier: Carrier) -> Refusal {
        guard carrier == .fcm, self != .payloadTooLarge else { return refusal }
        switch refusal.verdict {
        case .invalid:
            return Refusal(status: nil, reason: FCMErrorCode.invalidArgument.rawValue, verdict: .invalid)
        case .message, .gone, .config, .later:
            return Refusal(isOfPayload ? LocalReason.badPayload : .badValue, refusal.verdict)
        }
    }

    private var isOfPayload: Bool { [.badPayload, .payloadEmpty, .badRequestPayload].contains(self) }

    private init(_ reason: Reason, _ verdict: Verdict) {
        refusal = Refusal(status: nil, reason: reason.rawValue, verdict: verdict)
    }

    private init(_ reason: LocalReason, _ verdict: Verdict) { refusal = Refusal(reason, verdict) }
}

/// A fault of a recipient, or of the values that all recipients share.
struct Fault: Hashable, Sendable {
    let reason: FaultReason
    var diagnostic: Diagnostic
}

/// The location of the keys being read, from which a path is built only for a fault.
enum PathBase: Hashable, Sendable {
    /// The top of a document, or a line.
    case root
    /// A member of the first line.
    case member(String)
    /// An element of a list.
    case element(of: String, at: Int)

    /// Whether this is an element of `payloads`, whose keys are the app's.
    var isPayload: Bool {
        guard case .element(JobKey.payloads.rawValue, _) = self else { return false }
        return true
    }

    /// Returns the path of a key at this location; for an empty key, the path of the location.
    func path(of key: String) -> String {
        switch self {
        case .root: key
        case .member(let name): key.isEmpty ? name : "\(name).\(key)"
        case .element(let list, let index): key.isEmpty ? "\(list)[\(index)]" : "\(list)[\(index)].\(key)"
        }
    }
}

/// The findings from reading one mapping: usually none, at no cost.
///
/// Only as many findings as the report has room for get a message; the rest are counted. So the cost of a file depends
/// on its size, not on its number of faults.
struct Findings: Sendable {
    let base: PathBase
    /// The most faults, and the most warnings, that get a message.
    let room: Int
    private(set) var faults: [Fault] = []
    private(set) var warnings: [Diagnostic] = []
    /// How many more faults and warnings there are.
    private(set) var unworded = (faults: 0, warnings: 0)
    /// The reason of the first fault, and the reasons of all faults.
    private(set) var firstReason: FaultReason?
    private(set) var reasons: Set<FaultReason> = []

    init(at base: PathBase, room: Int) {
        self.base = base
        self.room = room
    }

    /// Whether there is no fault.
    var isFaultless: Bool { firstReason == nil }

    /// Adds a fault whose diagnostic includes its path. The diagnostic is evaluated only if there is room.
    mutating func add(_ reason: FaultReason, whole diagnostic: @autoclosure () -> Diagnostic) {
        firstReason = firstReason ?? reason
        reasons.insert(reason)
        guard faults.count < room else { return unworded.faults += 1 }
        faults.append(Fault(reason: reason, diagnostic: diagnostic()))
    }

    /// Adds a fault of a key at this location. The diagnostic is evaluated only if there is room.
    mutating func add(_ reason: FaultReason, _ diagnostic: @autoclosure () -> Diagnostic, about key: String) {
        let base = base
        add(reason, whole: diagnostic().about(base.path(of: key)))
    }

    /// Adds a warning about a key at this location. The diagnostic is evaluated only if there is room.
    mutating func warn(_ diagnostic: @autoclosure () -> Diagnostic, about key: String) {
        let base = base
        warn(whole: diagnostic().about(base.path(of: key)))
    }

    /// Adds a warning whose diagnostic includes its path. The diagnostic is evaluated only if there is room.
    mutating func warn(whole diagnostic: @autoclosure () -> Diagnostic) {
        guard warnings.count < room else { return unworded.warnings += 1 }
        var warning = diagnostic()
        warning.severity = .warning
        warnings.append(warning)
    }

    mutating func add(contentsOf other: Findings) {
        if other.isFaultless, other.warnings.isEmpty, other.unworded.warnings == 0 { return }
        firstReason = firstReason ?? other.firstReason
        reasons.formUnion(other.reasons)
        let taken = (other.faults.prefix(room - faults.count), other.warnings.prefix(room - warnings.count))
        faults += taken.0
        warnings += taken.1
        unworded.faults += other.unworded.faults + other.faults.count - taken.0.count
        unworded.warnings += other.unworded.warnings + other.warnings.count - taken.1.count
    }

    /// Returns the same findings, all located at this place, for text without line numbers of its own.
    func moved(to place: Place?) -> Findings {
        var copy = self
        for index in faults.indices { copy.faults[index].diagnostic.place = place }
        for index in warnings.indices { copy.warnings[index].place = place }
        return copy
    }

    mutating func expected(_ what: String, _ node: Node, reason: FaultReason, about key: String) {
        add(reason, Diagnostic("expected \(what), found \(node.kindName)", at: node.place), about: key)
    }
}
