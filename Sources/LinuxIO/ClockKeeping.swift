import CLinux

/// Whether the system clock is synchronized, according to the kernel (adjtimex(2)).
package enum ClockKeeping: Hashable, Sendable {
    /// An NTP daemon or the hypervisor synchronizes it; the maximum error is attached.
    case kept(within: Duration)
    /// The clock is unsynchronized, or the NTP daemon has lost its servers.
    case unkept
    /// The kernel does not answer; some sandboxes forbid the call.
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
