/// How a job ended: in `done/` or in `failed/`, and why.
package struct Conclusion: Hashable, Sendable {
    /// Which archive a job ends in.
    package enum State: String, CaseIterable, Hashable, Sendable {
        /// Every notification has an outcome, and at least one was accepted or is unknown.
        case done
        /// The rest.
        case failed
    }

    /// The archive.
    package let state: State
    /// Why it did not simply succeed; `nil` for `done`.
    package let code: ResultCode?
    /// What became of its notifications.
    package let tally: Tally

    /// Judges a job whose notifications all have an outcome, or that failed as a whole (`fault`).
    ///
    /// A job with something left unsent is failed even if the rest was accepted: somebody has to look at it.
    package init(tally: Tally, fault: ResultCode?) {
        self.tally = tally
        self.code = fault ?? Self.code(for: tally)
        self.state = code == nil ? .done : .failed
    }

    private static func code(for tally: Tally) -> ResultCode? {
        if tally.unsent > 0 { return .unsent }
        if tally.accepted + tally.unknown > 0 { return nil }
        if tally.refused > 0 { return .refused }
        return tally.expired > 0 ? .expired : .invalid
    }
}
