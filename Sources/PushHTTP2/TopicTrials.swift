import PushModel

/// Decides whether a topic that was refused is tried once more, on a connection opened after the refusal.
///
/// With a provider token, a connection is bound at its first push to the topics that the key has then (Apple, "Establishing a
/// token-based connection to APNs"): one that was added later is refused there, and accepted on a new connection.
struct TopicTrials: Sendable {
    /// How long a topic that was refused on a new connection is not tried on another.
    private static let pause = Duration.seconds(3600)
    /// The most topics that are remembered.
    private static let limit = 100

    /// When each topic was first refused on a connection that might not have known it.
    private var refusals: [String: Moment] = [:]

    /// Notes a refusal.
    ///
    /// - Parameters:
    ///   - topic: The topic; empty for the app's own.
    ///   - opened: When the connection was opened.
    ///   - now: The current time.
    /// - Returns: Whether the notification is to be sent on a new connection.
    mutating func mayTryAgain(_ topic: String, refusedOnConnectionOf opened: Moment, at now: Moment) -> Bool {
        if let refusal = refusals[topic], now < refusal + Self.pause { return opened < refusal }
        if refusals.count >= Self.limit { refusals = [:] }
        refusals[topic] = now
        return true
    }

    /// Whether a refusal may come from the connection's age and not from the topic.
    static func concerns(_ reply: Reply) -> Bool {
        reply.concerns.contains(.connection)
    }
}
