extension PushType {
    /// The gateway's requirements for one push type (Apple, "Sending notification requests to APNs", and the pages on
    /// Live Activities, widgets and controls).
    package struct Rules: Hashable, Sendable {
        /// The suffix of the topic after the app's bundle identifier, or `nil` if the topic is not a bundle identifier.
        package let topicSuffix: String?
        /// Whether the type requires a provider token and does not work with a certificate.
        package let needsProviderToken: Bool
        /// The priorities that the gateway accepts.
        package let priorities: Set<Priority>

        fileprivate init(
            _ topicSuffix: String?, needsProviderToken: Bool = false, priorities: Set<Priority> = anyPriority
        ) {
            self.topicSuffix = topicSuffix
            self.needsProviderToken = needsProviderToken
            self.priorities = priorities
        }
    }

    /// The rules of this type, in one table for everything but the payload.
    package var rules: Rules {
        switch self {
        case .alert: Rules("")
        case .background: Rules("", priorities: notAtOnce)
        case .location: Rules(".location-query", needsProviderToken: true, priorities: notLowest)
        case .voip: Rules(".voip")
        case .complication: Rules(".complication")
        case .fileprovider: Rules(".pushkit.fileprovider")
        // The topic is the user identifier in the subject of the MDM certificate.
        case .mdm: Rules(nil)
        case .liveactivity:
            Rules(".push-type.liveactivity", needsProviderToken: true, priorities: notLowest)
        case .pushtotalk: Rules(".voip-ptt")
        case .widgets: Rules(".push-type.widgets", needsProviderToken: true)
        case .controls: Rules(".push-type.controls", needsProviderToken: true)
        }
    }
}

// Stored once, because each job consults the rules about a dozen times.
private let anyPriority: Set<Priority> = [.immediate, .powerSaving, .lowest]
private let notAtOnce: Set<Priority> = [.powerSaving, .lowest]
private let notLowest: Set<Priority> = [.immediate, .powerSaving]
