/// The reasons why a wait ended: the state of the descriptor, a deadline, a wakeup, or a cancellation.
package struct Readiness: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    /// Creates a set from its bits.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Bytes, a connection, or the end of the stream can be read.
    package static let readable = Readiness(rawValue: 1)
    /// The kernel accepts bytes.
    package static let writable = Readiness(rawValue: 2)
    /// The connection failed or both directions are closed. Read up to the end or the error, then close.
    ///
    /// From then on it ends every wait, also one without interest in it.
    package static let hangup = Readiness(rawValue: 4)
    /// The deadline passed.
    package static let timedOut = Readiness(rawValue: 8)
    /// Another task or thread called `wake()`.
    package static let woken = Readiness(rawValue: 16)
    /// The waiting task was cancelled, or the reactor is stopping.
    package static let cancelled = Readiness(rawValue: 32)
}
