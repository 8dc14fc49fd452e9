package import APNSModel
import LinuxIO

extension Moment {
    /// The present moment of the boot clock.
    package static var now: Moment { Moment(nanoseconds: BootClock.nanoseconds()) }

    /// The same as an instant that a reactor can wait for.
    package var instant: ContinuousClock.Instant { BootClock.instant(at: nanoseconds) }
}

extension WallTime {
    /// The present time of day.
    static var now: WallTime { WallTime(nanoseconds: WallClock.nanoseconds()) }
}
