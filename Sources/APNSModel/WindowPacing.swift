/// How many notifications a connection may have without an outcome, after connections that ended with some in doubt: a gateway
/// that drops what it was sent each time would otherwise get everything many times over.
///
/// Each such end halves the window, down to one; from then on there is a pause before the next connection, which grows. While
/// connections hold, the window doubles again, the more slowly the more ends there were.
package struct WindowPacing: Sendable {
    /// The pauses between connections that fail.
    package let backOff: BackOff
    private let full: Int
    /// How many ends there were since the window was whole.
    private var endCount = 0
    /// How many of them the least window had.
    private var leastCount = 0
    /// When the window may double next.
    private var growAt = Moment.zero

    /// How many notifications of a connection may be without an outcome.
    package private(set) var limit: Int

    /// Creates the pacing of an app whose window is whole, with the pauses between connections that fail.
    package init(full: Int, backOff: BackOff) {
        (self.full, limit) = (max(1, full), max(1, full))
        self.backOff = backOff
    }

    /// Whether the window is smaller than configured.
    package var isReduced: Bool { limit < full }

    /// Notes that a connection ended with notifications in doubt.
    ///
    /// - Returns: How long to pause before the next; not at all while the window can become smaller.
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

    /// Notes that the gateway accepted something.
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
