/// A listening TCP socket on a reactor. Releasing it closes the socket; the kernel then refuses further connections.
///
/// Belongs to one actor on the reactor. Only that actor may call it.
package final class Listener {
    private let channel: Channel
    /// The address and port it listens on. If port 0 was requested, this is the port that the kernel chose.
    package let address: SocketAddress

    /// Binds and listens, like `BoundSocket`.
    ///
    /// - Throws: `SystemError`, like `BoundSocket`; no descriptor left to watch it.
    package init(on address: SocketAddress, reactor: Reactor, backlog: Int = 1024) throws(SystemError) {
        let socket = try BoundSocket(address, backlog: backlog)
        self.address = socket.address
        channel = try Channel(socket.takeDescriptor(), on: reactor)
    }

    /// Where `accept` waits. Wake it to make `accept` return `nil`.
    package var waiter: Waiter { channel.waiter }

    /// Waits for the next connection.
    ///
    /// - Returns: the connected socket; `nil` after `waiter.wake()`, or at the deadline.
    /// - Throws: `CancellationError`; `SystemError` with `isTransient` (EMFILE, ENFILE, ENOBUFS, ENOMEM) if the process
    ///   or the host lacks a resource. Pause for a moment and call again; the connection still waits.
    package func accept(until deadline: ContinuousClock.Instant? = nil) async throws -> sending StreamSocket? {
        try await channel.accept(as: address.description, until: deadline)
    }
}
