import LinuxIO

/// Why a proxy did not open a tunnel to the gateway.
package struct ProxyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problem, with the proxy's address.
    package let message: String
    /// The remedy, if known.
    package let hint: String?

    /// The message alone.
    package var description: String { message }
}

/// Opens a tunnel through a proxy, before the TLS handshake.
enum ProxyConnect {
    /// Asks `proxy`, over a socket connected to it, for a tunnel to `target`.
    ///
    /// - Parameters:
    ///   - target: The destination; the proxy looks the name up.
    ///   - proxy: The proxy and its login.
    ///   - socket: A connected socket without any traffic yet. After this call, bytes written to it reach the target.
    ///   - deadline: The deadline of the whole exchange.
    /// - Returns: Bytes of the target that have already come through the tunnel.
    /// - Throws: `ProxyError`; `SystemError` if the connection broke or the deadline passed; `CancellationError`.
    static func open(
        _ target: HostPort, through proxy: Proxy, over socket: StreamSocket, until deadline: ContinuousClock.Instant
    ) async throws -> [UInt8] {
        guard HostPort.isHost(target.host) else {
            throw ProxyError(message: "\(target) is not a valid target for a proxy", hint: "check the gateway's host")
        }
        let exchange = Exchange(asking: proxy, for: target, over: socket)
        while true {
            switch try exchange.advance() {
            case .open(let rest): return rest
            case .wait(let interest):
                let found = await socket.waiter.wait(for: interest, until: deadline)
                if found.contains(.cancelled) { throw CancellationError() }
                if found.contains(.timedOut) {
                    throw SystemError.timedOut("CONNECT \(target)", "proxy \(proxy.address)")
                }
            }
        }
    }
}

/// One request to a proxy and its answer. Never waits.
private final class Exchange {
    enum Step {
        case wait(Readiness)
        case open(rest: [UInt8])
    }

    private let proxy: Proxy
    private let target: HostPort
    private let socket: StreamSocket
    private let question: [UInt8]
    private var sentCount = 0
    private var answer = ProxyAnswer()

    init(asking proxy: Proxy, for target: HostPort, over socket: StreamSocket) {
        self.proxy = proxy
        self.target = target
        self.socket = socket
        self.question = proxy.request(for: target)
    }

    /// Sends and reads as much as possible without waiting.
    func advance() throws -> Step {
        // A local variable, because a span cannot be borrowed from a property of a class.
        let question = question
        while sentCount < question.count {
            switch try socket.write(question.span.extracting(sentCount...)) {
            case .bytes(let count): sentCount += count
            case .wouldBlock: return .wait(.writable)
            }
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            switch try socket.read(into: &buffer) {
            case .wouldBlock: return .wait(.readable)
            case .closed:
                throw fault("closed the connection without an answer", hint: "it may speak TLS instead of HTTP")
            case .bytes(let count):
                if let rest = try receive(buffer[..<count]) { return .open(rest: rest) }
            }
        }
    }

    /// Processes a piece of the answer. Returns the bytes after it, once it is complete and positive.
    private func receive(_ piece: ArraySlice<UInt8>) throws(ProxyError) -> [UInt8]? {
        switch answer.receive(piece) {
        case .incomplete: return nil
        case .open(let rest): return rest
        case .refused(let status, let reason): throw refusal(status, reason)
        case .notHTTP: throw fault("does not answer in HTTP", hint: "check the proxy's host and port")
        case .tooLong:
            throw fault(
                "answers with more than \(ProxyAnswer.headLimit) bytes", hint: "check the proxy's host and port")
        }
    }

    private func refusal(_ status: Int, _ reason: String) -> ProxyError {
        let answer = reason.isEmpty ? "\(status)" : "\(status) \(reason)"
        switch status {
        case 407 where proxy.login == nil:
            return fault("requires a login (\(answer))", hint: "write http://user:password@host:port")
        case 407:
            return fault(
                "refused the login (\(answer))", hint: "check user and password, and that it accepts Basic logins")
        case 400..<500:
            return fault("refused to connect to \(target) (\(answer))", hint: "let it allow CONNECT to \(target)")
        default: return fault("could not connect to \(target) (\(answer))", hint: nil)
        }
    }

    private func fault(_ words: String, hint: String?) -> ProxyError {
        ProxyError(message: "proxy \(proxy.address) \(words)", hint: hint)
    }
}
