/// The producers that a door admits.
package struct ProducerBook: Sendable {
    private var producers: [String: Producer] = [:]
    private var bearers: [[UInt8]: String] = [:]

    /// Creates a book that admits nobody.
    package init() {}

    /// Admits these producers instead of earlier ones.
    ///
    /// - Parameters:
    ///   - producers: The producers.
    ///   - bearers: The names of those with a bearer token, by the token's SHA-256.
    package mutating func admit(_ producers: [Producer], bearers: [[UInt8]: String]) {
        self.producers = Dictionary(producers.map { ($0.name, $0) }) { first, _ in first }
        self.bearers = bearers
    }

    /// Returns the producer whose bearer token has this SHA-256. The digest makes the time independent of the token.
    package func producer(bearing digest: [UInt8]) -> Producer? { bearers[digest].flatMap { producers[$0] } }

    /// Returns the producer of this name.
    package func producer(named name: String) -> Producer? { producers[name] }
}
