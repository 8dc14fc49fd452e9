import CLinux
import Glibc

/// Whether anything keeps the time of day right, as the kernel has been told (adjtimex(2)).
package enum ClockKeeping: Hashable, Sendable {
    /// A daemon of NTP does, or the host below; the time is off by so much at most.
    case kept(within: Duration)
    /// Nothing does, or it has lost its servers.
    case unkept
    /// The kernel does not say, which some sandboxes keep it from.
    case unknown

    /// Asks the kernel.
    package static func now() -> ClockKeeping {
        var maximumError = 0
        switch unsafe clinux_clock_state(&maximumError) {
        case 1: return .kept(within: .microseconds(maximumError))
        case 0: return .unkept
        default: return .unknown
        }
    }
}
