package import LinuxIO

/// The connections of a listener that serves a few at a time. When there are too many, the one that has waited longest
/// for its client has to go, so that connections without requests keep nobody out.
///
/// Belongs to an actor on the reactor.
package struct ConnectionRoster {
    /// How long a client may take for its request before its connection may have to go.
    private static let grace = Duration.milliseconds(100)

    private let limit: Int
    private var lastNumber = 0
    private var members: Set<Int> = []
    /// The connections that wait for a request, and since when.
    private var waiting: [Int: (since: ContinuousClock.Instant, waiter: Waiter)] = [:]
    private var leaving: Set<Int> = []

    /// Creates a roster. One connection more than `limit` may enter; then another has to go first.
    package init(limit: Int) { self.limit = limit }

    /// Whether no further connection may be accepted.
    package var isFull: Bool { members.count > limit }

    /// Whether no connection waits for its client.
    package var isBusy: Bool { waiting.isEmpty && leaving.isEmpty }

    /// Enters a connection, and returns its number.
    package mutating func enter() -> Int {
        lastNumber += 1
        members.insert(lastNumber)
        return lastNumber
    }

    /// Notes that a connection waits for a request from now on.
    package mutating func noteWaiting(_ number: Int, _ waiter: Waiter) { waiting[number] = (.now, waiter) }

    /// Notes that a connection has got a request: it may stay until it is answered.
    package mutating func noteRequest(_ number: Int) {
        waiting[number] = nil
        leaving.remove(number)
    }

    /// Whether a connection has to go, unless its request has arrived.
    package func mustLeave(_ number: Int) -> Bool { leaving.contains(number) }

    /// Removes a connection that has ended.
    package mutating func leave(_ number: Int) {
        noteRequest(number)
        members.remove(number)
    }

    /// Wakes the connection that has waited longest, and makes it leave.
    ///
    /// - Returns: When to try again, if none has waited long enough yet.
    package mutating func makeRoom() -> ContinuousClock.Instant? {
        guard leaving.isEmpty, let longest = waiting.min(by: { $0.value.since < $1.value.since }) else { return nil }
        let due = longest.value.since + Self.grace
        guard due <= .now else { return due }
        waiting[longest.key] = nil
        leaving.insert(longest.key)
        longest.value.waiter.wake()
        return nil
    }
}
