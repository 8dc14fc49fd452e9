package import LinuxIO

/// Receives signals on the reactor.
package actor SignalReader {
    private let reactor: Reactor
    private let blocked: BlockedSignals
    private var watch: SignalWatch?

    /// Creates a receiver for signals that are already blocked.
    package init(_ reactor: Reactor, _ blocked: BlockedSignals) {
        self.reactor = reactor
        self.blocked = blocked
    }

    /// The executor of the reactor's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// Waits for the next signal; `nil` if the task is cancelled.
    ///
    /// - Throws: `SystemError`: signals can no longer be received; report it and end.
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

    /// Waits for a signal that requests the end. Others have no effect.
    ///
    /// - Throws: `SystemError`, which is not expected; nothing if the task is cancelled.
    package func awaitEnd() async throws(SystemError) {
        while let signal = try await next() {
            if signal == .terminate || signal == .interrupt { return }
        }
    }
}
