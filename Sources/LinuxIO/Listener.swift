import CLinux
import Glibc

/// A listening TCP socket on a reactor. Closing it, by letting it go, makes the kernel refuse further connections.
///
/// Belongs to one actor on the reactor, which alone may call it.
package final class Listener {
    private let channel: Channel
    /// The address and port it listens on, the port chosen by the kernel if 0 was asked for.
    package let address: SocketAddress

    /// Binds and listens; an address left behind by an earlier process is reused (SO_REUSEADDR).
    ///
    /// - Parameters:
    ///   - address: port 0 lets the kernel choose one.
    ///   - reactor: the caller must run on it.
    ///   - backlog: connections that may wait to be accepted; the kernel's net.core.somaxconn caps it.
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

    /// Where `accept` waits; wake it to have `accept` return `nil`.
    package var waiter: Waiter { channel.waiter }

    /// Waits for the next connection.
    ///
    /// - Returns: the connected socket; `nil` after `waiter.wake()`, or at the deadline.
    /// - Throws: `CancellationError`; `SystemError` with `isTransient` (EMFILE, ENFILE, ENOBUFS, ENOMEM) when the process
    ///   or the host is out of something: pause for a moment, then call again, the connection still waits.
    package func accept(until deadline: ContinuousClock.Instant? = nil) async throws -> sending StreamSocket? {
        try await channel.accept(as: address.description, until: deadline)
    }
}
