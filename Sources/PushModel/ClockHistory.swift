/// The history of the wall clock against the boot clock, for computing the time that has passed since a time stamp.
///
/// A step of the wall clock (by `chronyd`, or by hand) makes the difference of two wall times wrong. The history keeps the
/// lead of the wall clock over the boot clock from step to step and converts each stamp with the lead in effect when it was
/// made. Stamps older than the history, such as those of jobs that an earlier daemon left, use the first lead.
///
/// Changes of up to `tolerance` between two readings count as slow corrections, not as steps. Costs O(*steps*) and
/// keeps the last 32 steps.
package struct ClockHistory: Hashable, Sendable {
    /// A period without a step.
    private struct Era: Hashable, Sendable {
        /// The start of the period: the last reading before the step was noticed.
        let start: Moment
        /// The lead of the wall clock over the boot clock, in nanoseconds.
        var lead: Int64
    }

    /// The largest change of the lead between two readings that does not count as a step.
    package static let tolerance = Duration.seconds(1)
    private static let eraLimit = 32

    private var eras: [Era] = []
    private var lastLook = Moment.zero

    /// Creates a history without readings: it reads every stamp as a boot-clock moment.
    package init() {}

    /// Records a reading of the wall clock.
    ///
    /// - Returns: The step since the last reading, or `nil` if there was none.
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
    /// If the clock showed it twice, returns the later moment. If it skipped it, returns the moment of the step. If it
    /// has not shown it yet, returns the moment of the last reading.
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
