import CLinux

/// A listening TCP socket on a reactor. Releasing it closes the socket; the kernel then refuses further connections.
///
/// Belongs to one actor on the reactor. Only that actor may call it.
package final class Listener {
    private let channel: Channel
    /// The address and port it listens on. If port 0 was requested, this is the port that the kernel chose.
    package let address: SocketAddress

    /// Binds and listens. Reuses an address that an earlier process has just given up (SO_REUSEADDR).
    ///
    /// - Parameters:
    ///   - address: port 0 lets the kernel choose one.
    ///   - reactor: the caller must run on it.
    ///   - backlog: connections that may wait to be accepted; limited by net.core.somaxconn.
    /// - Throws: `SystemError`: EADDRINUSE (another program has the port), EACCES (a port below 1024), EADDRNOTAVAIL.
    package init(on address: SocketAddress, reactor: Reactor, backlog: Int = 1024) throws(SystemError) {
        let number = clinux_stream_socket(address.kernelFamily)
        guard number >= 0 else { throw .last("socket", address.description) }
        let descriptor = Descriptor(adopting: number)
        var one: Int32 = 1
        let length = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &one, length) == 0 else {
            throw .last("setsockopt", "SO_REUSEADDR")
        }
        guard unsafe address.withKernelForm({ unsafe bind(number, $0, $1) }) == 0 else {
            throw .last("bind", address.description)
        }
        guard listen(number, Int32(clamping: backlog)) == 0 else { throw .last("listen", address.description) }
        self.address = unsafe SocketAddress.asked { unsafe getsockname(number, $0, $1) } ?? address
        channel = try Channel(descriptor, on: reactor)
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
