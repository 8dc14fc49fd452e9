import CLinux
import Glibc

/// A TCP socket that listens, and that nothing watches yet.
package struct BoundSocket: ~Copyable {
    private let descriptor: Descriptor
    /// The address and port it listens on. If port 0 was requested, this is the port that the kernel chose.
    package let address: SocketAddress

    /// Binds and listens. Reuses an address that an earlier process has just given up (SO_REUSEADDR).
    ///
    /// - Parameters:
    ///   - address: port 0 lets the kernel choose one.
    ///   - backlog: connections that may wait to be accepted; limited by net.core.somaxconn.
    /// - Throws: `SystemError`: EADDRINUSE (another program has the port), EACCES (a port below 1024), EADDRNOTAVAIL.
    package init(_ address: SocketAddress, backlog: Int = 1024) throws(SystemError) {
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
        self.descriptor = descriptor
    }

    /// Passes the socket on.
    package consuming func takeDescriptor() -> Descriptor { descriptor }
}
