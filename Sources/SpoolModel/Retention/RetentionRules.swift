package import PushModel

/// How long an app's archives and unread feedback are kept.
///
/// Archives are deleted by whole days (`KeepTime.isOver`), feedback files by the time in their names.
package struct RetentionRules: Hashable, Sendable {
    /// What to do with a feedback file that still exists.
    package enum Decision: Hashable, Sendable {
        /// Keep it.
        case kept
        /// Announce that it will be deleted.
        case announced
        /// Delete it.
        case deleted
    }

    /// How long `done/` is kept.
    package var done = KeepTime.days(30)
    /// How long `failed/` is kept.
    package var failed = KeepTime.days(90)
    /// How long feedback is kept.
    package var feedback = KeepTime.days(90)

    /// Whether other nodes' feedback is deleted, too: in a cluster, one node does it for all.
    package var coversAllNodes = false

    /// How long before its deletion unread feedback is announced; half the keep time if that is less than two days.
    package static let notice = Duration.seconds(86_400)

    /// Creates the default rules.
    package init() {}

    /// Whether one of the archives keeps nothing.
    package var keepsNothing: Bool { done.isZero || failed.isZero }

    /// Returns what to do with a feedback file. A file is not deleted before an earlier look has announced it.
    ///
    /// - Parameters:
    ///   - time: The time in its name.
    ///   - now: The time of the look.
    ///   - told: The newest time that an earlier look has announced.
    /// - Returns: What to do with it.
    package func fate(ofFeedback time: WallTime, at now: WallTime, toldThrough told: WallTime?) -> Decision {
        guard case .limited(let keep) = feedback, let horizon = feedbackHorizon(at: now), time < horizon else {
            return .kept
        }
        if time + keep <= now, let told, time <= told { return .deleted }
        return .announced
    }

    /// Returns the time from which on feedback is kept; `nil` if all is kept.
    package func feedbackHorizon(at now: WallTime) -> WallTime? {
        switch feedback {
        case .forever: nil
        case .limited(let keep): now + (min(Self.notice, keep / 2) - keep)
        }
    }
}
