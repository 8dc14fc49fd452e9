package import LinuxIO

/// The connections of a listener that serves a few at a time. When there are too many, the one that has waited longest
/// for its client has to go, so that connections without requests keep nobody out.
///
/// Belongs to the listener's actor. Only that actor may call it.
package final class ConnectionRoster {
    /// How long a client may take for its request before its connection may have to go.
    private static let grace = Duration.milliseconds(100)

    private let listener: ListeningSocket
    private let limit: Int
    private var lastNumber = 0
    private var members: Set<Int> = []
    /// The connections that wait for a request, and since when.
    private var waiting: [Int: (since: ContinuousClock.Instant, waiter: Waiter)] = [:]
    private var leaving: Set<Int> = []

    /// Creates the roster of a listener. One connection more than `limit` may enter: it takes the place of one that waits,
    /// or is told that there are too many. Further ones wait in the kernel.
    package init(_ listener: ListeningSocket, limit: Int) { (self.listener, self.limit) = (listener, limit) }

    private var isFull: Bool { members.count > limit }

    /// Whether there are too many connections, and none of them waits for its client.
    package var isOverrun: Bool { isFull && waiting.isEmpty && leaving.isEmpty }

    /// Waits until there is room for a connection, then for one.
    ///
    /// - Returns: As `ListeningSocket.accept`; also `nil` to look again.
    /// - Throws: As `ListeningSocket.accept`.
    package func accept(complain: (SystemError) -> Void) async throws -> sending StreamSocket? {
        guard isFull else { return try await listener.accept(complain: complain) }
        let found = await listener.waiter.wait(until: makeRoom())
        if found.contains(.cancelled) { throw CancellationError() }
        return nil
    }

    /// Enters a connection, and returns its number.
    package func enter() -> Int {
        lastNumber += 1
        members.insert(lastNumber)
        return lastNumber
    }

    /// Notes that a connection waits for a request from now on. Where there are too many, it may be the one that has to go.
    package func noteWaiting(_ number: Int, _ waiter: Waiter) {
        waiting[number] = (.now, waiter)
        if isFull { listener.waiter.wake() }
    }

    /// Notes that a connection has got a request: it may stay until it is answered, and another has to go instead.
    package func noteRequest(_ number: Int) {
        waiting[number] = nil
        leaving.remove(number)
        listener.waiter.wake()
    }

    /// Whether a connection has to go, unless its request has arrived.
    package func mustLeave(_ number: Int) -> Bool { leaving.contains(number) }

    /// Removes a connection that has ended.
    package func leave(_ number: Int) {
        members.remove(number)
        noteRequest(number)
    }

    /// Wakes the connection that has waited longest, and makes it leave.
    ///
    /// - Returns: When to try again, if none has waited long enough yet.
    private func makeRoom() -> ContinuousClock.Instant? {
        guard leaving.isEmpty, let longest = waiting.min(by: { $0.value.since < $1.value.since }) else { return nil }
        let due = longest.value.since + Self.grace
        guard due <= .now else { return due }
        waiting[longest.key] = nil
        leaving.insert(longest.key)
        longest.value.waiter.wake()
        return nil
    }
}
