/// Calls back on the reactor's thread when an instant has come.
package struct Alarm: Sendable {
    private let reactor: Reactor
    private let entry: AlarmEntry

    /// Creates an alarm that is not set.
    ///
    /// - Parameters:
    ///   - reactor: whose timer it uses.
    ///   - handler: what it calls, with the present instant; it must not block, and returns when to be called again. A
    ///     reactor that stops calls it once more with an instant after all others.
    package init(
        on reactor: Reactor, handler: @escaping @Sendable (ContinuousClock.Instant) -> ContinuousClock.Instant?
    ) {
        self.reactor = reactor
        entry = AlarmEntry(reactor, handler)
    }

    /// Sets it, from any thread; one that was set before is set anew.
    ///
    /// - Returns: `false` if the reactor has stopped: it will not be called.
    package func set(to deadline: ContinuousClock.Instant) -> Bool {
        reactor.inbox.post(.setAlarm(entry, until: deadline))
    }
}

/// An alarm's place among the deadlines.
///
/// Unchecked because it is touched by the reactor's thread alone: others only post it to the inbox.
final class AlarmEntry: DeadlineEntry, @unchecked Sendable {
    private unowned let reactor: Reactor
    private let handler: @Sendable (ContinuousClock.Instant) -> ContinuousClock.Instant?

    init(
        _ reactor: Reactor, _ handler: @escaping @Sendable (ContinuousClock.Instant) -> ContinuousClock.Instant?
    ) {
        self.reactor = reactor
        self.handler = handler
    }

    /// Calls for the last time.
    func reactorStopped() {
        _ = handler(.now + .seconds(1 << 32))
    }

    override func deadlinePassed() {
        if let next = handler(.now) { reactor.loop.deadlines.insert(self, at: next) }
    }
}
