extension PushType {
    /// What the gateway asks of one type of push (Apple, "Sending notification requests to APNs", and the pages on Live
    /// Activities, widgets and controls).
    package struct Rules: Hashable, Sendable {
        /// What the topic has behind the app's bundle identifier; `nil` where the topic is no bundle identifier at all.
        package let topicSuffix: String?
        /// Whether it works with a provider token only, not with a certificate.
        package let needsProviderToken: Bool
        /// The priorities that the gateway takes.
        package let priorities: Set<Priority>

        fileprivate init(
            _ topicSuffix: String?, needsProviderToken: Bool = false, priorities: Set<Priority> = anyPriority
        ) {
            self.topicSuffix = topicSuffix
            self.needsProviderToken = needsProviderToken
            self.priorities = priorities
        }
    }

    /// The rules of this type: one table for all that is asked of a push but its payload.
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

// Made once, and not with each look at the rules: there are a dozen for every job.
private let anyPriority: Set<Priority> = [.immediate, .powerSaving, .lowest]
private let notAtOnce: Set<Priority> = [.powerSaving, .lowest]
private let notLowest: Set<Priority> = [.immediate, .powerSaving]
