/// Limits the notifications that a connection may have without an outcome, after connections that ended with some in doubt.
///
/// Without it, a gateway that drops the connection each time would receive everything many times over.
///
/// Each such end halves the window, down to one. At one, each further end adds a growing pause before the next
/// connection. While connections last, the window doubles again, more slowly the more ends there were.
///
/// A connection on which at least eight times as many notifications were accepted as it left in doubt has made progress:
/// its end changes nothing. One that accepted something causes no pause.
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

    /// How many times as many notifications a connection must have accepted as it left in doubt.
    private static let progressFactor = 8

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
    /// - Parameters:
    ///   - doubtCount: The number of these.
    ///   - acceptedCount: The number of notifications that were accepted on the connection.
    ///   - now: The current time.
    ///   - random: The source of the pause's jitter.
    /// - Returns: The pause before the next connection; zero while the window can still shrink.
    package mutating func ended(
        inDoubt doubtCount: Int, accepted acceptedCount: Int, at now: Moment,
        using random: inout some RandomNumberGenerator
    ) -> Duration {
        if acceptedCount / Self.progressFactor >= doubtCount { return .zero }
        endCount += 1
        growAt = now + backOff.longestPause(after: endCount + 1)
        guard limit == 1 else {
            limit /= 2
            return .zero
        }
        guard acceptedCount == 0 else {
            leastCount = 0
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
