package import PushModel
import Synchronization

/// The counters of a gateway. Any thread may read them without going through the gateway.
package final class GatewayMeter: Sendable {
    private let connections = Atomic(0)
    private let inFlight = Atomic(0)
    /// Nanoseconds since 1970; zero: none.
    private let holdEnd = Atomic<Int64>(0)
    private let times = Mutex(Histogram.ofAnswers)

    /// The number of open connections, including those that take no more work and wait for their last answers.
    package var connectionCount: Int { connections.load(ordering: .relaxed) }

    /// The number of notifications written and without an outcome, as of the last turn of each connection.
    package var inFlightCount: Int { inFlight.load(ordering: .relaxed) }

    /// The answer times since the gateway was created. The binary protocol does not answer accepted notifications, so
    /// nothing is counted there.
    package var answerTimes: Histogram { times.withLock { $0 } }

    /// When the app sends again because its quota is used up; `nil` if it does not wait for that.
    package func quotaHoldEnd(at now: WallTime) -> WallTime? {
        let end = WallTime(nanoseconds: holdEnd.load(ordering: .relaxed))
        return end > now ? end : nil
    }

    /// Sets when the app sends again because its quota is used up; `nil` if it does not wait for that.
    func note(quotaHoldEnd: WallTime?) {
        holdEnd.store(quotaHoldEnd?.nanoseconds ?? 0, ordering: .relaxed)
    }

    /// Sets the number of open connections.
    func note(connectionCount: Int) {
        connections.store(connectionCount, ordering: .relaxed)
    }

    /// Adds `count`, which may be negative, to the notifications that are written and have no outcome.
    func addInFlight(_ count: Int) {
        inFlight.add(count, ordering: .relaxed)
    }

    /// Absorbs answer times, and empties the caller's histogram.
    func absorb(_ answerTimes: inout Histogram) {
        times.withLock { $0.absorb(&answerTimes) }
    }
}
