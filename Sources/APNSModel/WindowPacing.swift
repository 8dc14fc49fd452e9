/// Limits the notifications that a connection may have without an outcome, after connections that ended with some in doubt.
///
/// Without it, a gateway that drops the connection each time would receive everything many times over.
///
/// Each such end halves the window, down to one. At one, each further end adds a growing pause before the next
/// connection. While connections last, the window doubles again, more slowly the more ends there were.
package struct WindowPacing: Sendable {
    /// The pauses between failing connections.
    package let backOff: BackOff
    private let full: Int
    /// The number of ends in doubt since the window last had its full size.
    private var endCount = 0
    /// The number of those ends while the window was one.
    private var leastCount = 0
    /// The earliest moment at which the window may double.
    private var growAt = Moment.zero

    /// The number of a connection's notifications that may be without an outcome.
    package private(set) var limit: Int

    /// Creates the pacing of an app with a full window.
    package init(full: Int, backOff: BackOff) {
        (self.full, limit) = (max(1, full), max(1, full))
        self.backOff = backOff
    }

    /// Whether the window is smaller than configured.
    package var isReduced: Bool { limit < full }

    /// Records that a connection ended with notifications in doubt.
    ///
    /// - Returns: The pause before the next connection; zero while the window can still shrink.
    package mutating func endedInDoubt(at now: Moment, using random: inout some RandomNumberGenerator) -> Duration {
        endCount += 1
        growAt = now + backOff.longestPause(after: endCount + 1)
        guard limit == 1 else {
            limit /= 2
            return .zero
        }
        leastCount += 1
        return backOff.pause(after: leastCount, using: &random)
    }

    /// Records that the gateway accepted a notification.
    package mutating func accepted(at now: Moment) {
        guard endCount > 0, now >= growAt else { return }
        if isReduced {
            limit = min(full, limit * 2)
            growAt = now + backOff.longestPause(after: endCount + 1)
        } else {
            (endCount, leastCount) = (0, 0)
        }
    }
}
