/// The gateway's last answers, to notice when nearly all tokens are bad: then it is not the tokens, it is the environment.
package struct AnswerHistory: Sendable {
    /// How many answers are looked at.
    package static let length = 50

    private var isBad: [Bool] = []
    private var next = 0
    /// Whether these credentials ever had an acceptance.
    package private(set) var hasAcceptance = false
    private var hasWarned = false

    /// Creates the history of credentials that have not been used yet.
    package init() {}

    /// Notes an acceptance: from now on these credentials are known to be of the right environment.
    package mutating func accepted() {
        hasAcceptance = true
    }

    /// Notes a refusal.
    ///
    /// - Returns: Whether this is the moment to warn: over half of the last 50 answers are bad tokens, none was ever an
    ///   acceptance, and nobody has been warned yet.
    package mutating func refused(badToken: Bool) -> Bool {
        if isBad.count < Self.length { isBad.append(badToken) } else { isBad[next] = badToken }
        next = (next + 1) % Self.length
        guard !hasAcceptance, !hasWarned, isBad.count == Self.length, isBad.count(where: \.self) > Self.length / 2
        else { return false }
        hasWarned = true
        return true
    }
}
