import LinuxIO

extension FaultAction.HandshakeFault {
    /// The bytes that the client receives instead of a server's first flight.
    private var bytes: [UInt8] {
        switch self {
        case .close: []
        // A TLS 1.2 record of one fatal alert: handshake_failure (RFC 8446 §6.2).
        case .alert: [21, 3, 3, 0, 2, 2, 40]
        case .junk: Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)
        }
    }

    /// Waits for the client's first bytes, sends an invalid answer, and ends the stream.
    ///
    /// - Throws: `SystemError` if the client closes the connection first; `CancellationError`.
    func spoil(_ socket: StreamSocket) async throws {
        let deadline = ContinuousClock.now + .seconds(5)
        try await readAll(socket, until: deadline, untilEnd: false)
        _ = try socket.write(bytes.span)
        socket.shutdownWrite()
        // Closing with unread bytes would reset the connection and destroy the answer.
        try await readAll(socket, until: deadline, untilEnd: true)
    }

    private func readAll(
        _ socket: StreamSocket, until deadline: ContinuousClock.Instant, untilEnd: Bool
    ) async throws {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            switch try socket.read(into: &buffer) {
            case .bytes where !untilEnd, .closed: return
            case .bytes: continue
            case .wouldBlock: break
            }
            let found = await socket.waiter.wait(for: .readable, until: deadline)
            if found.contains(.cancelled) { throw CancellationError() }
            if found.contains(.timedOut) { return }
        }
    }
}
