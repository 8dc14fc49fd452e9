import Glibc

/// Reads the clock that never jumps and counts while the machine is suspended (CLOCK_BOOTTIME).
package enum BootClock {
    /// Nanoseconds since the host started.
    package static func nanoseconds() -> Int64 {
        readClock(CLOCK_BOOTTIME)
    }

    /// The instant at which `nanoseconds()` is, or was, `nanoseconds`: for waits on a `Reactor`.
    package static func instant(at nanoseconds: Int64) -> ContinuousClock.Instant {
        let (distance, overflow) = nanoseconds.subtractingReportingOverflow(Self.nanoseconds())
        return .now + .nanoseconds(overflow ? (nanoseconds < 0 ? .min : .max) : distance)
    }
}

/// Reads the clock that never jumps and stands still while the machine is suspended (CLOCK_MONOTONIC).
enum MonotonicClock {
    /// Nanoseconds since the host started.
    static func nanoseconds() -> Int64 {
        readClock(CLOCK_MONOTONIC)
    }
}

/// Reads the time of day (CLOCK_REALTIME), which may be set and so may jump.
package enum WallClock {
    /// Nanoseconds since 1970-01-01T00:00:00Z.
    package static func nanoseconds() -> Int64 {
        readClock(CLOCK_REALTIME)
    }
}

/// Reads the processor time of the calling thread (CLOCK_THREAD_CPUTIME_ID). A system call.
package enum ThreadClock {
    /// How long the calling thread has been on a processor since it was started, in nanoseconds.
    package static func nanoseconds() -> Int64 {
        readClock(CLOCK_THREAD_CPUTIME_ID)
    }
}

private func readClock(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    let code = unsafe clock_gettime(clock, &time)
    precondition(code == 0, "every Linux has this clock")
    return Int64(clampingNanoseconds: Int64(time.tv_sec), Int64(time.tv_nsec))
}

extension Int64 {
    /// Nanoseconds from seconds and nanoseconds, cut to what 64 bits hold: 292 years, from 1970 until 2262.
    init(clampingNanoseconds seconds: Int64, _ nanoseconds: Int64) {
        let (product, isTooMuch) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflow) = product.addingReportingOverflow(nanoseconds)
        self = isTooMuch || overflow ? (seconds < 0 ? .min : .max) : sum
    }
}
