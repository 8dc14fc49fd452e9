import LinuxIO
package import PushModel

extension Moment {
    /// The current time on the boot clock.
    package static var now: Moment { Moment(nanoseconds: BootClock.nanoseconds()) }

    /// The same time as an instant that a reactor can wait for.
    package var instant: ContinuousClock.Instant { BootClock.instant(at: nanoseconds) }
}

extension WallTime {
    /// The current time of day.
    package static var now: WallTime { WallTime(nanoseconds: WallClock.nanoseconds()) }
}
