package import APNSModel

/// How long an app's archives are kept, and its feedback that nobody reads.
///
/// Archives go by whole days (`KeepTime.isOver`), a feedback file by the time in its name.
package struct RetentionRules: Hashable, Sendable {
    /// What becomes of a feedback file that is still there.
    package enum Fate: Hashable, Sendable {
        /// Nothing yet.
        case kept
        /// It is told that it will be deleted.
        case announced
        /// It is deleted.
        case deleted
    }

    /// How long `done/` is kept.
    package var done = KeepTime.days(30)
    /// How long `failed/` is kept.
    package var failed = KeepTime.days(90)
    /// How long feedback is kept.
    package var feedback = KeepTime.days(90)

    /// How long before its end unread feedback is told of; of a shorter time than two days the half.
    package static let notice = Duration.seconds(86_400)

    /// Creates the usual rules.
    package init() {}

    /// Whether there is an archive that keeps nothing.
    package var keepsNothing: Bool { done.isZero || failed.isZero }

    /// What becomes of a feedback file of that time. None is deleted that an earlier look has not told of.
    ///
    /// - Parameters:
    ///   - time: The time in its name.
    ///   - now: The time of the look.
    ///   - told: The newest time of those that an earlier look has told of.
    /// - Returns: What to do with it.
    package func fate(ofFeedback time: WallTime, at now: WallTime, toldThrough told: WallTime?) -> Fate {
        guard case .limited(let keep) = feedback, let horizon = feedbackHorizon(at: now), time < horizon else {
            return .kept
        }
        if time + keep <= now, let told, time <= told { return .deleted }
        return .announced
    }

    /// Feedback of this time and later is kept; `nil`: all is.
    package func feedbackHorizon(at now: WallTime) -> WallTime? {
        switch feedback {
        case .forever: nil
        case .limited(let keep): now + (min(Self.notice, keep / 2) - keep)
        }
    }
}
