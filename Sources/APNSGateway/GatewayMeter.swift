package import APNSModel
import Synchronization

/// What a gateway counts besides what it tells: for anybody, on any thread, without asking the gateway.
package final class GatewayMeter: Sendable {
    private let connections = Atomic(0)
    private let inFlight = Atomic(0)
    private let times = Mutex(Histogram.ofAnswers)

    /// How many connections are up, those among them that take no more and wait for their last answers.
    package var connectionCount: Int { connections.load(ordering: .relaxed) }

    /// How many notifications are written and have no outcome, as of the last turn of each connection.
    package var inFlightCount: Int { inFlight.load(ordering: .relaxed) }

    /// How long answers took since the gateway was made. Over the binary protocol there are none to what is accepted, and
    /// nothing is counted.
    package var answerTimes: Histogram { times.withLock { $0 } }

    /// Notes how many connections are up.
    func note(connectionCount: Int) {
        connections.store(connectionCount, ordering: .relaxed)
    }

    /// Notes that so many more notifications are written and have no outcome; a negative number takes them back.
    func addInFlight(_ count: Int) {
        inFlight.add(count, ordering: .relaxed)
    }

    /// Takes over how long answers took, and leaves nothing of it.
    func take(_ answerTimes: inout Histogram) {
        times.withLock { $0.absorb(&answerTimes) }
    }
}
