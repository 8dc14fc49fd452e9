/// A listening TCP socket on a reactor.
package final class Listener: ListeningSocket {
    /// The address and port it listens on. If port 0 was requested, this is the port that the kernel chose.
    package let address: SocketAddress

    /// Binds and listens, like `BoundSocket`.
    ///
    /// - Throws: `SystemError`, like `BoundSocket`; no descriptor left to watch it.
    package init(on address: SocketAddress, reactor: Reactor, backlog: Int = 1024) throws(SystemError) {
        let socket = try BoundSocket(address, backlog: backlog)
        self.address = socket.address
        try super.init(socket.takeDescriptor(), as: self.address.description, on: reactor)
    }
}
