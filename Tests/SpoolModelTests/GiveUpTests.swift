import JobFormat
import PushModel
import SpoolModel
import TestSupport
import Testing

/// When jobs are given up while the wall clock is set.
struct GiveUpTests {
    /// A job that was dropped a minute before the daemon looked at the clock for the first time, an hour after boot; it is
    /// read two minutes later, when the clock was set by `step`.
    private static func job(_ keys: String, step: Duration) -> JobHeader {
        let start = Moment.zero + .seconds(3600)
        var clock = ClockHistory()
        clock.note(noon + .seconds(60), at: start)
        clock.note(noon + .seconds(120), at: start + .seconds(60))
        let now = noon + .seconds(180) + step
        clock.note(now, at: start + .seconds(120))
        var context = context()
        context.noteDrop(at: noon, now: now, by: clock)
        return json(#"{"token":"0A","alert":"x"\#(keys)}"#, context).summary.header
    }

    @Test(
        .catalogue("J77 clock-step, jobs that wait", checks: []),
        arguments: [0, 3, 3600, 86_400 * 400, -3600, -86_400 * 400] as [Int64])
    func `a clock that is set neither shortens nor prolongs the time of a job`(step: Int64) {
        let header = Self.job(#","give_up_after":"4h""#, step: .seconds(step))
        #expect(header.giveUpAt == .zero + .seconds(3600 - 60 + 4 * 3600))
    }

    @Test(arguments: [(0, 3600), (86_400, 3660)] as [(Int64, Int64)])
    func `a postponed job has its time from when it may be sent`(step: Int64, from: Int64) {
        // Its time comes a minute after the first look, or with the step.
        let time = (noon + .seconds(step == 0 ? 60 : 43_200)).rfc3339
        let header = Self.job(#","not_before":"\#(time)","give_up_after":"1h""#, step: .seconds(step))
        #expect(header.giveUpAt == .zero + .seconds(from + 3600))
    }
}

extension WallTime {
    /// The same of a context that knows of no clock.
    var unset: Moment { Moment(nanoseconds: nanoseconds) }
}
