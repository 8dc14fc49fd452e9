import LinuxIO
import PushModel
import SecureTransport

/// One open connection: the stream, the policy that controls it, and the bytes between the two.
///
/// Belongs to a `GatewayService` and is used only on its reactor.
final class Conversation: OpenConnection {
    private let stream: SecureStream
    private let socket: StreamSocket
    private var policy: GatewayPolicy
    /// Bytes read but not consumed yet: less than a notification, unless the policy is not listening.
    private var unread: [UInt8] = []
    private var readCount = 0

    /// The number of consecutive reads before other connections get their turn.
    private static let fairReads = 4
    /// The time that the peer may take to make room for six bytes.
    private static let sendTime = Duration.seconds(10)

    init(over stream: SecureStream, on socket: StreamSocket, policy: GatewayPolicy) {
        self.stream = stream
        self.socket = socket
        self.policy = policy
    }

    /// Runs the connection to its end.
    ///
    /// - Throws: `SystemError` or `TLSError` if the connection fails; `CancellationError`; `LedgerFileFault`.
    func run(in service: isolated GatewayService) async throws {
        while true {
            let now = GatewayPolicy.Now.read()
            switch policy.step(at: now.moment) {
            case .read(let limit, let until):
                try await read(atMost: limit, until: until, in: service)
            case .wait(let until):
                try await wait(until: until)
                try await consumeUnread(in: service)
            case .send(let bytes):
                try await send(bytes)
            case .close(let until):
                let farewell = await stream.shutdown(until: until.instant)
                if farewell.isClean { service.noteGoodbye(onConnection: policy.connection) }
                unread.append(contentsOf: farewell.late)
                try await consumeUnread(in: service)
            case .cut:
                socket.shutdownWrite()
            case .stopListening(let duration):
                service.stopListening(for: duration)
            case .release(let resetting):
                if resetting { stream.abort() }
                return
            }
        }
    }

    /// Ends the connection at its next step, which it triggers immediately.
    func drop(resetting: Bool) {
        policy.drop(resetting: resetting)
        stream.wake()
    }

    private func read(atMost limit: Int, until: Moment?, in service: isolated GatewayService) async throws {
        switch try stream.read(into: &unread, limit: limit) {
        case .bytes(let count):
            policy.didRead(count, at: GatewayPolicy.Now.read().moment)
            try await consumeUnread(in: service)
            readCount += 1
            if readCount % Self.fairReads == 0 { await stream.yield() }
        case .closed(let isClean):
            if isClean { service.noteGoodbye(onConnection: policy.connection) }
            policy.peerEnded()
        case .wouldBlock:
            _ = try stream.flush()
            let found = await stream.wait(for: .readable, until: until?.instant)
            if found.contains(.cancelled) { throw CancellationError() }
        }
    }

    /// Passes the bytes read to the policy, which consumes those that it can.
    private func consumeUnread(in service: isolated GatewayService) async throws {
        guard !unread.isEmpty else { return }
        unread.removeFirst(service.consume(unread.span, by: &policy))
        try await service.publish()
    }

    private func wait(until moment: Moment?) async throws {
        let found = await stream.wait(for: [], until: moment?.instant)
        if found.contains(.cancelled) { throw CancellationError() }
        guard found.contains(.hangup) else { return }
        guard let moment else {
            policy.drop(resetting: true)
            return
        }
        // The peer has closed the connection, but its bytes can still be read after the wait.
        try await socket.reactor.sleep(until: moment.instant)
    }

    private func send(_ bytes: [UInt8]) async throws {
        try stream.write(bytes.span)
        let deadline = ContinuousClock.now + Self.sendTime
        while try !stream.flush() {
            let found = await stream.wait(for: [], until: deadline)
            if found.contains(.cancelled) { throw CancellationError() }
            if found.contains(.timedOut) { return policy.drop(resetting: true) }
        }
    }
}
