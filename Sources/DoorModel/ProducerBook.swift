package import APNSModel

/// The producers that a door admits, and how much each may still drop.
///
/// Each door counts for itself.
package struct ProducerBook: Sendable {
    private var producers: [String: Producer] = [:]
    private var bearers: [[UInt8]: String] = [:]
    private var buckets: [String: TokenBucket] = [:]

    /// Creates a book that admits nobody.
    package init() {}

    /// Admits these producers instead of earlier ones. A rate that stays goes on.
    ///
    /// - Parameters:
    ///   - producers: The producers.
    ///   - bearers: The names of those with a bearer token, by the token's SHA-256.
    package mutating func admit(_ producers: [Producer], bearers: [[UInt8]: String]) {
        self.producers = Dictionary(producers.map { ($0.name, $0) }) { first, _ in first }
        self.bearers = bearers
        buckets = Dictionary(
            uniqueKeysWithValues: self.producers.values.compactMap { producer in
                guard let rate = producer.rate else { return nil }
                let known = buckets[producer.name].flatMap { $0.rate == rate ? $0 : nil }
                return (producer.name, known ?? TokenBucket(rate))
            })
    }

    /// Returns the producer whose bearer token has this SHA-256. The digest makes the time independent of the token.
    package func producer(bearing digest: [UInt8]) -> Producer? { bearers[digest].flatMap { producers[$0] } }

    /// Returns the producer of this name.
    package func producer(named name: String) -> Producer? { producers[name] }

    /// Whether a producer may drop a job now.
    package func isInTurn(_ producer: Producer, at now: Moment) -> Bool {
        buckets[producer.name].map { $0.available(at: now) > 0 } ?? true
    }

    /// Records that a producer drops this many notifications. More than its rate allows delay its next job.
    package mutating func take(_ count: Int, of producer: Producer, at now: Moment) {
        buckets[producer.name]?.take(count, at: now)
    }

    /// Returns in how many seconds a producer may try again, at least 1.
    package func secondsToTurn(of producer: Producer, at now: Moment) -> Int {
        guard let bucket = buckets[producer.name] else { return 1 }
        return max(1, Int((bucket.next(for: 1) - now).wholeNanoseconds / 1_000_000_000) + 1)
    }
}
