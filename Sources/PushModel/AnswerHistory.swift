/// The gateway's most recent answers. If nearly all tokens are bad, the environment is wrong rather than the tokens.
package struct AnswerHistory: Sendable {
    /// The number of answers considered.
    package static let length = 50

    private var isBad: [Bool] = []
    private var next = 0
    /// Whether the gateway has ever accepted a notification with these credentials.
    package private(set) var hasAcceptance = false
    private var hasWarned = false

    /// Creates the history of unused credentials.
    package init() {}

    /// Records an acceptance, which proves that the credentials belong to the right environment.
    package mutating func accepted() {
        hasAcceptance = true
    }

    /// Records a refusal.
    ///
    /// - Returns: Whether to warn now: over half of the last 50 answers are bad tokens, the gateway never accepted a
    ///   notification, and no warning was given before.
    package mutating func refused(badToken: Bool) -> Bool {
        if isBad.count < Self.length { isBad.append(badToken) } else { isBad[next] = badToken }
        next = (next + 1) % Self.length
        guard !hasAcceptance, !hasWarned, isBad.count == Self.length, isBad.count(where: \.self) > Self.length / 2
        else { return false }
        hasWarned = true
        return true
    }
}
