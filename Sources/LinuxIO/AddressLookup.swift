import CLinux
import Glibc
import Synchronization

/// Finds the addresses of a host with getaddrinfo(3), on a separate thread because the call can block for half a minute.
///
/// All callers that ask for the same host and port share one thread. If no name server answers, threads and their
/// descriptors do not pile up.
package enum AddressLookup {
    /// A task-local function that replaces the system's lookup and returns numeric addresses. Tests use it to move a host.
    @TaskLocal package static var standIn: (@Sendable (_ host: String) -> [String])?

    /// Looks up a name in DNS and /etc/hosts, as the system is configured. A numeric address needs no thread.
    ///
    /// - Parameters:
    ///   - endpoint: the host, and the port to put into the addresses.
    ///   - reactor: where to wait; the caller must run on it.
    ///   - deadline: when to abandon the lookup; its thread ends by itself.
    /// - Returns: at least one address, in the order of preference of RFC 6724.
    /// - Throws: `LookupError`; `CancellationError`.
    package static func addresses(
        of endpoint: HostPort, on reactor: Reactor, until deadline: ContinuousClock.Instant
    ) async throws -> [SocketAddress] {
        if let numeric = SocketAddress(host: endpoint.host, port: endpoint.port) { return [numeric] }
        if let standIn {
            return standIn(endpoint.host).compactMap { SocketAddress(host: $0, port: endpoint.port) }
        }
        let waiter = Waiter(on: reactor)
        let answer = try joinLookup(of: endpoint, waiter.waker)
        while true {
            if let result = answer.result { return try result.get() }
            let found = await waiter.wait(until: deadline)
            if let result = answer.result { return try result.get() }
            if found.contains(.cancelled) { throw CancellationError() }
            if found.contains(.timedOut) { throw LookupError.timedOut(endpoint.host) }
        }
    }

    /// The lookups without an answer so far.
    private static let underWay = Mutex<[HostPort: Answer]>([:])

    /// Returns the lookup of this host that is under way, or starts one.
    private static func joinLookup(of endpoint: HostPort, _ waker: Waker) throws(SystemError) -> Answer {
        try underWay.withLock { (lookups) throws(SystemError) in
            if let answer = lookups[endpoint] {
                answer.add(waker)
                return answer
            }
            let answer = Answer(waker: waker)
            let thread = try SystemThread.start(name: "lookup") {
                let result = ask(endpoint)
                // Callers from now on start a new lookup.
                underWay.withLock { $0[endpoint] = nil }
                answer.set(result)
            }
            thread.detach()
            lookups[endpoint] = answer
            return answer
        }
    }

    /// Blocks until the system answers.
    private static func ask(_ endpoint: HostPort) -> Result<[SocketAddress], LookupError> {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(clinux_sock_stream)
        unsafe hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(endpoint.host, nil, &hints, &list)
        defer { unsafe freeaddrinfo(list) }
        guard code == 0 else { return .failure(LookupError(code: code, host: endpoint.host)) }
        var addresses: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            if let form = unsafe entry.pointee.ai_addr, let address = unsafe SocketAddress(kernelForm: form) {
                addresses.append(address.withPort(endpoint.port))
            }
            unsafe next = entry.pointee.ai_next
        }
        return addresses.isEmpty ? .failure(.notFound(endpoint.host)) : .success(addresses)
    }

    /// Where the thread leaves its answer for all callers that wait for it.
    private final class Answer: Sendable {
        private struct State {
            var result: Result<[SocketAddress], LookupError>?
            var wakers: [Waker]
        }

        private let state: Mutex<State>

        init(waker: Waker) {
            state = Mutex(State(wakers: [waker]))
        }

        var result: Result<[SocketAddress], LookupError>? { state.withLock { $0.result } }

        func add(_ waker: Waker) {
            state.withLock { $0.wakers.append(waker) }
        }

        func set(_ result: Result<[SocketAddress], LookupError>) {
            let wakers = state.withLock { state in
                state.result = result
                return state.wakers
            }
            for waker in wakers { waker.wake() }
        }
    }
}

/// Why a host has no address.
package enum LookupError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name does not exist, or has no address of a family that this host can use. Correct the name.
    case notFound(String)
    /// The name server did not answer, or reported a temporary failure. Try again later.
    case unavailable(String, reason: String)
    /// No answer arrived before the deadline. Try again later.
    case timedOut(String)

    /// Translates an error code of getaddrinfo(3).
    init(code: Int32, host: String) {
        switch code {
        case EAI_NONAME, Int32(clinux_eai_nodata), Int32(clinux_eai_addrfamily):
            self = .notFound(host)
        default:
            self = .unavailable(host, reason: unsafe String(cString: gai_strerror(code)))
        }
    }

    /// Whether the same lookup may succeed later.
    package var isTransient: Bool {
        switch self {
        case .notFound: false
        case .unavailable, .timedOut: true
        }
    }

    /// One line, for example `cannot look up gateway.example: no answer in time`.
    package var description: String {
        switch self {
        case .notFound(let host): "cannot look up \(host): no such name, or it has no address"
        case .unavailable(let host, let reason): "cannot look up \(host): \(reason)"
        case .timedOut(let host): "cannot look up \(host): no answer in time"
        }
    }
}
