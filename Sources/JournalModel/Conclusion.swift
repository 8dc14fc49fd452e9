package import JobFormat

/// How a job ended: its archive, `done/` or `failed/`, and the reason.
package struct Conclusion: Hashable, Sendable {
    /// The archive that a job ends in.
    package enum State: String, CaseIterable, Hashable, Sendable {
        /// Every notification has an outcome, and at least one was accepted or is unknown.
        case done
        /// Any other result.
        case failed
    }

    /// The archive.
    package let state: State
    /// Why the job did not simply succeed; `nil` for `done`.
    package let code: ResultCode?
    /// The job's notifications, counted by outcome.
    package let tally: Tally

    /// Judges a job whose notifications all have an outcome, or that failed as a whole (`fault`).
    ///
    /// A job with unsent notifications fails even if the rest were accepted, because an operator has to look at it.
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
