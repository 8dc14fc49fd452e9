/// How the wall clock has run against the boot clock, so that a time stamp tells how much time has passed since.
///
/// A step of the wall clock (by `chronyd`, or by hand) makes the difference of two wall times wrong. The history keeps the
/// lead of the wall clock over the boot clock from step to step and translates a stamp by the lead that it was made with.
/// Stamps from before the history began, such as those of jobs that an earlier daemon left, count by the first lead.
///
/// Slow corrections up to `tolerance` from look to look are no steps. Costs O(*steps*), of which it keeps the last 32.
package struct ClockHistory: Hashable, Sendable {
    /// A time without a step.
    private struct Era: Hashable, Sendable {
        /// When it began: at the last look before the step was seen.
        let start: Moment
        /// How far the wall clock is ahead of the boot clock, in nanoseconds.
        var lead: Int64
    }

    /// A change of the lead between two looks that is no step.
    package static let tolerance = Duration.seconds(1)
    private static let eraLimit = 32

    private var eras: [Era] = []
    private var lastLook = Moment.zero

    /// Creates a history without a look: every stamp is its own moment.
    package init() {}

    /// Notes what the wall clock shows.
    ///
    /// - Returns: By how much it was stepped since the last look; `nil` if it was not.
    @discardableResult
    package mutating func note(_ time: WallTime, at now: Moment) -> Duration? {
        let lead = (time - WallTime(nanoseconds: now.nanoseconds)).wholeNanoseconds
        defer { lastLook = now }
        guard let last = eras.last else {
            eras = [Era(start: now, lead: lead)]
            return nil
        }
        let change = Duration.nanoseconds(lead) - .nanoseconds(last.lead)
        guard change > Self.tolerance || change < .zero - Self.tolerance else {
            eras[eras.count - 1].lead = lead
            return nil
        }
        if eras.count == Self.eraLimit { eras.removeFirst() }
        eras.append(Era(start: lastLook, lead: lead))
        return change
    }

    /// Returns the moment at which the wall clock showed `time`.
    ///
    /// If it showed it twice, the later one; if it skipped it, the moment of the step; if it has not shown it yet, the last
    /// look.
    package func moment(of time: WallTime) -> Moment {
        var (end, closest) = (lastLook, Moment?.none)
        for (index, era) in eras.enumerated().reversed() {
            let moment = Self.moment(of: time, lead: era.lead)
            if moment > end {
                closest = closest ?? end
            } else if moment >= era.start || index == 0 {
                return moment
            }
            end = era.start
        }
        return closest ?? Moment(nanoseconds: time.nanoseconds)
    }

    private static func moment(of time: WallTime, lead: Int64) -> Moment {
        Moment(nanoseconds: (time - WallTime(nanoseconds: lead)).wholeNanoseconds)
    }
}
