import CLinux
import Glibc

extension Channel {
    /// Waits for the next connection of a listening socket. The name is for error messages. See `Listener.accept`.
    func accept(
        as name: String, until deadline: ContinuousClock.Instant?
    ) async throws -> sending StreamSocket? {
        while true {
            if let socket = try acceptNow(as: name) { return socket }
            let found = await waiter.wait(for: .readable, until: deadline)
            if found.contains(.cancelled) { throw CancellationError() }
            if !found.isDisjoint(with: [.woken, .timedOut]) { return nil }
        }
    }

    /// Accepts a pending connection; returns `nil` if none is pending.
    private func acceptNow(as name: String) throws(SystemError) -> sending StreamSocket? {
        while true {
            let number = clinux_accept(descriptor.rawValue)
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
