/// What ended a wait: the state of the descriptor, and whatever else may end it.
package struct Readiness: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    /// A set from its bits.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Bytes, a connection, or the end of the stream can be read.
    package static let readable = Readiness(rawValue: 1)
    /// The kernel takes bytes.
    package static let writable = Readiness(rawValue: 2)
    /// The connection failed or both directions are closed: read to the end or to the error, then close.
    ///
    /// Ends every wait from then on, whatever was waited for.
    package static let hangup = Readiness(rawValue: 4)
    /// The deadline passed.
    package static let timedOut = Readiness(rawValue: 8)
    /// Somebody called `wake()`.
    package static let woken = Readiness(rawValue: 16)
    /// The waiting task was cancelled, or the reactor stops.
    package static let cancelled = Readiness(rawValue: 32)
}
