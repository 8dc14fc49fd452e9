import CLinux
import Glibc

/// A listening socket on a reactor. Releasing it closes the socket; the kernel then refuses further connections.
///
/// Belongs to one actor on the reactor. Only that actor may call it.
package class ListeningSocket {
    /// How long the process waits after it lacked a descriptor, or memory of the kernel's.
    private static let pause = Duration.milliseconds(100)

    private let channel: Channel
    private let name: String

    /// Takes over a socket that listens. The name is for error messages.
    ///
    /// - Throws: `SystemError`: no descriptor left to watch it.
    init(_ descriptor: consuming Descriptor, as name: String, on reactor: Reactor) throws(SystemError) {
        self.name = name
        channel = try Channel(descriptor, on: reactor)
    }

    /// Where `accept` waits. Wake it to make `accept` return `nil`.
    package final var waiter: Waiter { channel.waiter }

    /// Waits for the next connection.
    ///
    /// If the process or the host lacks a resource (EMFILE, ENFILE, ENOBUFS, ENOMEM), the connection still waits: calls
    /// `complain` with the error, pauses for a moment and returns `nil`.
    ///
    /// - Returns: the connected socket; `nil` after `waiter.wake()`, at the deadline, and after such a pause.
    /// - Throws: `CancellationError`; `SystemError`: the socket cannot be used any more.
    package final func accept(
        until deadline: ContinuousClock.Instant? = nil, complain: (SystemError) -> Void = { _ in }
    ) async throws -> sending StreamSocket? {
        do {
            while true {
                if let socket = try acceptNow() { return socket }
                let found = await waiter.wait(for: .readable, until: deadline)
                if found.contains(.cancelled) { throw CancellationError() }
                if !found.isDisjoint(with: [.woken, .timedOut]) { return nil }
            }
        } catch let error as SystemError where error.isTransient {
            complain(error)
            try await waiter.reactor.sleep(for: Self.pause)
            return nil
        }
    }

    /// Accepts a pending connection; returns `nil` if none is pending.
    private func acceptNow() throws(SystemError) -> sending StreamSocket? {
        while true {
            let number = clinux_accept(channel.descriptor.rawValue)
            if number >= 0 {
                return try StreamSocket(adopting: Descriptor(adopting: number), on: waiter.reactor)
            }
            switch errno {
            case EAGAIN:
                waiter.noteExhausted(.readable)
                return nil
            case EMFILE, ENFILE, ENOBUFS, ENOMEM, EBADF, EINVAL, ENOTSOCK, EOPNOTSUPP, EFAULT:
                throw .last("accept4", name)
            default:
                // EINTR, ECONNABORTED and network errors passed on by accept(2): only that connection is lost.
                continue
            }
        }
    }
}
