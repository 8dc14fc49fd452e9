import Glibc

/// Reads CLOCK_BOOTTIME, which never jumps and also counts while the machine is suspended.
package enum BootClock {
    /// Nanoseconds since the host started.
    package static func nanoseconds() -> Int64 {
        readClock(CLOCK_BOOTTIME)
    }

    /// The instant at which `nanoseconds()` equals `nanoseconds`, for waits on a `Reactor`.
    package static func instant(at nanoseconds: Int64) -> ContinuousClock.Instant {
        let (distance, overflow) = nanoseconds.subtractingReportingOverflow(Self.nanoseconds())
        return .now + .nanoseconds(overflow ? (nanoseconds < 0 ? .min : .max) : distance)
    }
}

/// Reads CLOCK_MONOTONIC, which never jumps and stops while the machine is suspended.
enum MonotonicClock {
    /// Nanoseconds since the host started.
    static func nanoseconds() -> Int64 {
        readClock(CLOCK_MONOTONIC)
    }
}

/// Reads the time of day (CLOCK_REALTIME), which jumps when it is set.
package enum WallClock {
    /// Nanoseconds since 1970-01-01T00:00:00Z.
    package static func nanoseconds() -> Int64 {
        readClock(CLOCK_REALTIME)
    }
}

/// Reads the CPU time of the calling thread (CLOCK_THREAD_CPUTIME_ID). Costs a system call.
package enum ThreadClock {
    /// CPU time that the calling thread has used since it was started, in nanoseconds.
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
    /// Combines seconds and nanoseconds, clamped to 64 bits: 292 years around 1970, until 2262.
    init(clampingNanoseconds seconds: Int64, _ nanoseconds: Int64) {
        let (product, isTooMuch) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflow) = product.addingReportingOverflow(nanoseconds)
        self = isTooMuch || overflow ? (seconds < 0 ? .min : .max) : sum
    }
}
