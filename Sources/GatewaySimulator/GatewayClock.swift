import LinuxIO
import PushModel

extension GatewayPolicy.Now {
    /// Reads both clocks.
    static func read() -> Self {
        Self(
            moment: Moment(nanoseconds: BootClock.nanoseconds()),
            wallTime: WallTime(nanoseconds: WallClock.nanoseconds()))
    }
}

extension Moment {
    /// The same moment, for waits on a reactor.
    var instant: ContinuousClock.Instant { BootClock.instant(at: nanoseconds) }
}
