/// Calls a handler on the reactor's thread at a given instant.
package struct Alarm: Sendable {
    private let reactor: Reactor
    private let entry: AlarmEntry

    /// Creates an alarm that is not set.
    ///
    /// - Parameters:
    ///   - reactor: whose timer it uses.
    ///   - handler: gets the current instant and returns when to call it again, or `nil`. It must not block. When the
    ///     reactor stops, it is called once more, with an instant later than any other.
    package init(
        on reactor: Reactor, handler: @escaping @Sendable (ContinuousClock.Instant) -> ContinuousClock.Instant?
    ) {
        self.reactor = reactor
        entry = AlarmEntry(reactor, handler)
    }

    /// Sets the alarm, from any thread. Replaces an earlier setting.
    ///
    /// - Returns: `false` if the reactor has stopped; the handler is not called then.
    package func set(to deadline: ContinuousClock.Instant) -> Bool {
        reactor.inbox.post(.setAlarm(entry, until: deadline))
    }
}

/// An alarm's entry among the reactor's deadlines.
///
/// Unchecked because only the reactor's thread touches it; other threads only post it to the inbox.
final class AlarmEntry: DeadlineEntry, @unchecked Sendable {
    private unowned let reactor: Reactor
    private let handler: @Sendable (ContinuousClock.Instant) -> ContinuousClock.Instant?

    init(
        _ reactor: Reactor, _ handler: @escaping @Sendable (ContinuousClock.Instant) -> ContinuousClock.Instant?
    ) {
        self.reactor = reactor
        self.handler = handler
    }

    /// Calls the handler for the last time.
    func reactorStopped() {
        _ = handler(.now + .seconds(1 << 32))
    }

    override func deadlinePassed() {
        if let next = handler(.now) { reactor.loop.deadlines.insert(self, at: next) }
    }
}
