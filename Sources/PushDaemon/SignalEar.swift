package import LinuxIO

/// Hears signals on the reactor.
package actor SignalEar {
    private let reactor: Reactor
    private let blocked: BlockedSignals
    private var watch: SignalWatch?

    /// Creates an ear for signals that are blocked already.
    package init(_ reactor: Reactor, _ blocked: BlockedSignals) {
        self.reactor = reactor
        self.blocked = blocked
    }

    /// The reactor's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// The next signal; `nil` when the task is cancelled.
    ///
    /// - Throws: `SystemError`: no signal will be heard any more; end, and say so.
    package func next() async throws(SystemError) -> Signal? {
        do {
            let watch = try watch ?? SignalWatch(blocked, on: reactor)
            self.watch = watch
            return try await watch.next()
        } catch let error as SystemError {
            throw error
        } catch {
            return nil
        }
    }
}
