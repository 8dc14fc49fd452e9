import CLinux
import Glibc

/// Several connection attempts, of which the first to succeed wins (RFC 8305, "happy eyeballs").
///
/// The attempts share a private epoll instance. The reactor watches its descriptor.
final class ConnectRace {
    private let gate: Channel
    private var waiting: [SocketAddress]
    /// The pending sockets, owned here until they are decided, and their addresses.
    private var attempts: [Int32: SocketAddress] = [:]
    private var failures: [SystemError] = []

    /// The delay before the next address is tried as well (RFC 8305 section 5).
    private static let stagger = Duration.milliseconds(250)

    init(among addresses: [SocketAddress], on reactor: Reactor) throws(SystemError) {
        let number = epoll_create1(Int32(EPOLL_CLOEXEC))
        gate = try Channel(try Descriptor(opened: number, "epoll_create1"), on: reactor)
        waiting = Self.alternating(addresses).reversed()
    }

    deinit {
        for number in attempts.keys { _ = close(number) }
    }

    /// Runs the race. The losing sockets are closed on deinit.
    func winner(until deadline: ContinuousClock.Instant) async throws -> Descriptor {
        while true {
            try startNext()
            let pause = waiting.isEmpty ? deadline : min(deadline, .now + Self.stagger)
            let found = await gate.waiter.wait(for: .readable, until: pause)
            if found.contains(.cancelled) { throw CancellationError() }
            if let winner = settleAttempts() { return winner }
            if attempts.isEmpty && waiting.isEmpty { throw ConnectError(attempts: failures) }
            if deadline <= .now { throw ConnectError(attempts: failures + unanswered()) }
        }
    }

    /// Alternates IPv6 and IPv4, beginning with the family of the first address.
    static func alternating(_ addresses: [SocketAddress]) -> [SocketAddress] {
        guard let first = addresses.first?.family else { return [] }
        var preferred = addresses.filter { $0.family == first }[...]
        var others = addresses.filter { $0.family != first }[...]
        var result: [SocketAddress] = []
        while result.count < addresses.count {
            if let address = preferred.popFirst() { result.append(address) }
            if let address = others.popFirst() { result.append(address) }
        }
        return result
    }

    /// Starts attempts until one is under way or none is left.
    private func startNext() throws(SystemError) {
        while let address = waiting.popLast() {
            do {
                try start(address)
                return
            } catch {
                failures.append(error)
            }
        }
    }

    private func start(_ address: SocketAddress) throws(SystemError) {
        let number = clinux_stream_socket(address.kernelFamily)
        let descriptor = try Descriptor(opened: number, "socket", address.description)
        let code = unsafe address.withKernelForm { unsafe Glibc.connect(number, $0, $1) }
        guard code == 0 || errno == EINPROGRESS || errno == EINTR else { throw .last("connect", address.description) }
        let watched = clinux_epoll_control(
            gate.descriptor.rawValue, EPOLL_CTL_ADD, number, clinux_epoll_out, UInt64(number))
        guard watched == 0 else { throw .last("epoll_ctl", address.description) }
        attempts[descriptor.relinquish()] = address
    }

    /// Handles every attempt that epoll reports as decided: collects errors and returns the first success.
    private func settleAttempts() -> Descriptor? {
        var event = unsafe epoll_event()
        while unsafe epoll_wait(gate.descriptor.rawValue, &event, 1, 0) == 1 {
            let number = unsafe Int32(clinux_epoll_tag(&event))
            guard let address = attempts.removeValue(forKey: number) else { continue }
            _ = clinux_epoll_control(gate.descriptor.rawValue, EPOLL_CTL_DEL, number, 0, 0)
            let descriptor = Descriptor(adopting: number)
            let code = Self.outcome(of: number)
            if code == 0 { return descriptor }
            failures.append(SystemError(code: code, operation: "connect", subject: address.description))
        }
        gate.waiter.noteExhausted(.readable)
        return nil
    }

    private func unanswered() -> [SystemError] {
        let silent = attempts.values.map(\.description).sorted() + waiting.reversed().map(\.description)
        return silent.map { SystemError(code: ETIMEDOUT, operation: "connect", subject: $0) }
    }

    /// The result of a finished attempt: 0 or the error (SO_ERROR, connect(2)).
    private static func outcome(of number: Int32) -> Int32 {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &length) == 0 ? code : errno
    }
}
