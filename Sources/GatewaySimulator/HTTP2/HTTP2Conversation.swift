import LinuxIO
import PushModel
import SecureTransport

/// One open HTTP/2 connection: the stream and the policy that controls it.
///
/// Belongs to a `GatewayService` and is used only on its reactor.
final class HTTP2Conversation: OpenConnection {
    private let stream: SecureStream
    private let socket: StreamSocket
    private var policy: HTTP2Policy
    private var arriving: [UInt8] = []
    private var leaving: [UInt8] = []
    private var readCount = 0

    /// The number of consecutive reads before other connections get their turn.
    private static let fairReads = 4
    /// The maximum number of unsent bytes; with more, the gateway stops reading from the client.
    private static let backlog = 1 << 20

    init(over stream: SecureStream, on socket: StreamSocket, policy: HTTP2Policy) {
        self.stream = stream
        self.socket = socket
        self.policy = policy
    }

    /// Runs the connection to its end.
    ///
    /// - Throws: `SystemError` or `TLSError` if the connection fails; `CancellationError`; `LedgerFileFault`.
    func run(in service: isolated GatewayService) async throws {
        while true {
            let step = policy.step(at: GatewayPolicy.Now.read().moment)
            try send(in: service)
            switch step {
            case .read(let limit, let until):
                try await read(atMost: limit, until: until, in: service)
            case .wait(let until):
                try await wait(until: until)
            case .close(let until):
                let farewell = await stream.shutdown(until: until.instant)
                if farewell.isClean { service.noteGoodbye(onConnection: policy.connection) }
                policy.peerEnded()
            case .cut:
                socket.shutdownWrite()
            case .stopListening(let duration):
                service.stopListening(for: duration, on: policy.api.port)
            case .release(let resetting):
                if resetting { stream.abort() }
                return
            case .send:
                break
            }
        }
    }

    func drop(resetting: Bool) {
        policy.drop(resetting: resetting)
        stream.wake()
    }

    private func read(atMost limit: Int, until: Moment?, in service: isolated GatewayService) async throws {
        guard stream.pendingByteCount < Self.backlog else { return try await wait(until: until) }
        switch try stream.read(into: &arriving, limit: limit) {
        case .bytes:
            var bytes: [UInt8] = []
            swap(&bytes, &arriving)
            service.receive(bytes.span, by: &policy)
            bytes.removeAll(keepingCapacity: true)
            swap(&bytes, &arriving)
            try send(in: service)
            try await service.publish()
            readCount += 1
            if readCount % Self.fairReads == 0 { await stream.yield() }
        case .closed(let isClean):
            if isClean { service.noteGoodbye(onConnection: policy.connection) }
            policy.peerEnded()
        case .wouldBlock:
            let found = await stream.wait(for: .readable, until: until?.instant)
            if found.contains(.cancelled) { throw CancellationError() }
        }
    }

    private func wait(until moment: Moment?) async throws {
        let found = await stream.wait(for: [], until: moment?.instant)
        if found.contains(.cancelled) { throw CancellationError() }
        if found.contains(.hangup) { policy.drop(resetting: true) }
    }

    /// Writes the pending output to the kernel, as far as it accepts it.
    private func send(in service: isolated GatewayService) throws {
        var bytes: [UInt8] = []
        swap(&bytes, &leaving)
        service.takeOutput(of: &policy, into: &bytes)
        if !bytes.isEmpty { try stream.write(bytes.span) }
        bytes.removeAll(keepingCapacity: true)
        swap(&bytes, &leaving)
        _ = try stream.flush()
    }
}
