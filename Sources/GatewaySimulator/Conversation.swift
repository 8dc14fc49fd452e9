import APNSBinary
import APNSModel
import LinuxIO
import SecureTransport

/// One open connection: the stream, the policy that says what to do with it, and the bytes between the two.
///
/// Belongs to the `BinaryService`, and is touched on its reactor alone.
final class Conversation {
    private let stream: SecureStream
    private let socket: StreamSocket
    private var policy: GatewayPolicy
    /// What was read and is not yet done with: less than a notification, unless the policy does not listen.
    private var unread: [UInt8] = []
    private var readCount = 0

    /// How many reads follow each other before other connections get their turn.
    private static let fairReads = 16
    /// How long the peer may take to make room for six bytes.
    private static let sendTime = Duration.seconds(10)

    init(over stream: SecureStream, on socket: StreamSocket, policy: GatewayPolicy) {
        self.stream = stream
        self.socket = socket
        self.policy = policy
    }

    /// What is to be done about the rest of the service when a step says so.
    enum Request {
        case stopListening(Duration)
        case hangUp
    }

    /// Does one step after the other, until one asks for something that concerns the whole service, or the last.
    ///
    /// - Parameter consume: hands bytes to the policy, with what the connections share.
    /// - Throws: `SystemError`, `TLSError`: the connection is broken, which ends it; `CancellationError`.
    func advance(_ consume: (inout GatewayPolicy, Span<UInt8>, GatewayPolicy.Now) -> Int) async throws -> Request {
        while true {
            let now = GatewayPolicy.Now.read()
            switch policy.step(at: now.moment) {
            case .read(let limit, let until):
                try await read(atMost: limit, until: until, consume)
            case .wait(let until):
                try await wait(until: until)
                take(at: .read(), consume)
            case .send(let bytes):
                try await send(bytes)
            case .close(let until):
                unread.append(contentsOf: await stream.shutdown(until: until.instant).late)
                take(at: now, consume)
                return .hangUp
            case .cut:
                socket.shutdownWrite()
            case .stopListening(let duration):
                return .stopListening(duration)
            case .release(let resetting):
                if resetting { stream.abort() }
                return .hangUp
            }
        }
    }

    /// Ends the connection at its next step, which is at once.
    func drop(resetting: Bool) {
        policy.drop(resetting: resetting)
        stream.wake()
    }

    private func read(
        atMost limit: Int, until: Moment?, _ consume: (inout GatewayPolicy, Span<UInt8>, GatewayPolicy.Now) -> Int
    ) async throws {
        switch try stream.read(into: &unread, limit: limit) {
        case .bytes(let count):
            let now = GatewayPolicy.Now.read()
            policy.didRead(count, at: now.moment)
            take(at: now, consume)
            readCount += 1
            if readCount % Self.fairReads == 0 { await Task.yield() }
        case .closed:
            policy.peerEnded()
        case .wouldBlock:
            _ = try stream.flush()
            let found = await stream.wait(for: .readable, until: until?.instant)
            if found.contains(.cancelled) { throw CancellationError() }
        }
    }

    private func take(
        at now: GatewayPolicy.Now, _ consume: (inout GatewayPolicy, Span<UInt8>, GatewayPolicy.Now) -> Int
    ) {
        guard !unread.isEmpty else { return }
        unread.removeFirst(consume(&policy, unread.span, now))
    }

    private func wait(until moment: Moment?) async throws {
        let found = await stream.wait(for: [], until: moment?.instant)
        if found.contains(.cancelled) { throw CancellationError() }
        guard found.contains(.hangup) else { return }
        guard let moment else {
            policy.drop(resetting: true)
            return
        }
        // The peer is gone, but what it sent is still there to be read when the wait is over.
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
