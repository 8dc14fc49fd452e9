package import LinuxIO

/// An actor on a reactor that runs what a test gives it.
package actor ReactorHost {
    private let reactor: Reactor

    /// The reactor's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// A host on a reactor; several may share one.
    package init(_ reactor: Reactor) {
        self.reactor = reactor
    }

    /// Runs `body` on the reactor's thread.
    ///
    /// - Throws: what `body` throws.
    package func run<Result: Sendable>(_ body: @Sendable (Reactor) async throws -> Result) async throws -> Result {
        try await body(reactor)
    }
}

/// Runs `body` on the thread of a reactor made for it, and stops the reactor afterwards.
///
/// - Throws: what `body` throws; `SystemError` when the reactor cannot start.
package func onReactor<Result: Sendable>(
    _ body: @Sendable (Reactor) async throws -> Result
) async throws -> Result {
    let reactor = try Reactor(name: "test")
    defer { reactor.stop() }
    return try await ReactorHost(reactor).run(body)
}
