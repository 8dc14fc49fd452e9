import APNSModel
import Document
import PushModel

/// A member of `aps` in a job, other than those of every ordinary alert.
struct PlacedKey: Hashable, Sendable {
    let key: APSKey
    /// The shorthand that it was written as, if it was.
    var shorthand: JobKey?
    /// Its place and path in a whole payload.
    var (place, path) = (Place?.none, "")

    /// The member in a whole payload.
    init(_ key: APSKey, at place: Place?, path: String) { (self.key, self.place, self.path) = (key, place, path) }

    /// The member that a shorthand stands for, or one anywhere in a whole payload.
    init(_ key: APSKey, as shorthand: JobKey?) { (self.key, self.shorthand) = (key, shorthand) }
}

extension APSKey {
    /// The push types with which Apple documents this member, and the title of the page.
    private var home: (types: Set<PushType>, page: String) {
        switch self {
        case .timestamp, .event, .contentState, .staleDate, .dismissalDate, .attributes, .attributesType,
            .inputPushToken, .inputPushChannel:
            (Self.activity, Self.activityPage)
        case .contentChanged: (Self.reloads, "Updating widgets with WidgetKit push notifications")
        case .alert, .relevanceScore: (Self.shown, Self.generalPage)
        case .contentAvailable: (Self.waking, "Pushing background updates to your App")
        case .badge, .sound, .category, .threadID, .mutableContent, .targetContentID, .interruptionLevel,
            .filterCriteria, .urlArgs, .summaryArg, .summaryArgCount:
            (Self.alerts, Self.generalPage)
        }
    }

    // Stored once, because each payload consults them for each of its members.
    private static let alerts: Set<PushType> = [.alert]
    private static let activity: Set<PushType> = [.liveactivity]
    private static let shown: Set<PushType> = [.alert, .liveactivity]
    private static let waking: Set<PushType> = [.alert, .background]
    private static let reloads: Set<PushType> = [.widgets, .controls]

    private static let generalPage = "Generating a remote notification"
    private static let activityPage = "Starting and updating Live Activities with ActivityKit push notifications"

    /// Why the member has no effect in a push of this type; `nil` if it may have one.
    func complaint(in type: PushType, _ facts: PayloadFacts) -> (message: String, hint: String)? {
        let (types, page) = home
        guard types.contains(type) else {
            let names = types.map(\.rawValue).sorted().joined(separator: " and ")
            let hint = self == .sound && type == .liveactivity ? "put it into `alert`" : "remove it, or set push_type"
            return ("`\(rawValue)` belongs to pushes of type \(names)", "\(hint) (Apple, \"\(page)\")")
        }
        guard type == .liveactivity else { return nil }
        switch self {
        case .attributes, .attributesType, .inputPushToken, .inputPushChannel:
            guard !facts.contains(.start) else { return nil }
            return ("`\(rawValue)` belongs to the event start", "remove it (Apple, \"\(page)\")")
        case .dismissalDate where !facts.contains(.end):
            return ("`\(rawValue)` belongs to the event end", "remove it (Apple, \"\(page)\")")
        default: return nil
        }
    }

    /// The members that `PayloadFacts` distinguishes in every payload, so that their places are not kept.
    static let ordinary: [APSKey] = [.alert, .badge, .sound, .contentAvailable]

    /// Whether it is one of `ordinary`.
    var isOrdinary: Bool { Self.ordinary.contains(self) }
}
