import LinuxIO
import OpenSSL
import SecureTransport

/// A client that asks a door something harmless, to find out whether it answers.
///
/// A connection alone proves nothing: the kernel accepts it for a process that has stopped accepting.
struct DoorProbe {
    /// What is sent, and what the door must send then; without any, a TLS handshake is enough.
    private let steps: [(request: [UInt8], sign: String)]

    /// The ZMTP 3.0 greeting of a client of type REQ (RFC 23), and then a request that is no command. libzmq ends a connection on which
    /// the request comes before it has answered the greeting.
    private static let zeroMQ: [(request: [UInt8], sign: String)] = [
        (
            [0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0x7F, 3, 0] + Array("NULL".utf8) + [UInt8](repeating: 0, count: 48)
                + [4, 25, 5] + Array("READY".utf8) + [11] + Array("Socket-Type".utf8) + [0, 0, 0, 3]
                + Array("REQ".utf8), "Socket-Type"
        ), ([1, 0, 0, 6] + Array("doctor".utf8), "ERROR "),
    ]

    /// Creates a probe of the door of this name.
    init(of door: String) {
        steps =
            switch door {
            case "http": [(Self.get("/livez"), "HTTP/1.1 200 ")]
            case "xmlrpc": [(Self.get("/"), "HTTP/1.1 405 ")]
            case "zeromq": Self.zeroMQ
            default: []
            }
    }

    private static func get(_ path: String) -> [UInt8] {
        Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
    }

    /// Sends the request and waits for the answer.
    ///
    /// - Parameters:
    ///   - socket: A connection to the door.
    ///   - deadline: When to give up.
    /// - Throws: `SystemError`, `TLSError`, `DoorTrouble`: there is no answer, or another one.
    func ask(over socket: sending StreamSocket, until deadline: ContinuousClock.Instant) async throws {
        if steps.isEmpty { return try await shakeHands(over: socket, until: deadline) }
        var (answer, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
        for (request, sign) in steps {
            guard case .bytes(request.count) = try socket.write(request.span) else {
                throw DoorTrouble("the request does not fit into the socket's buffer")
            }
            while answer.firstRange(of: Array(sign.utf8)) == nil {
                switch try socket.read(into: &buffer) {
                case .bytes(let count): answer += buffer[..<count]
                case .closed: throw DoorTrouble("it ended the connection without the answer \(sign)")
                case .wouldBlock:
                    let found = await socket.waiter.wait(for: .readable, until: deadline)
                    if found.contains(.timedOut) { throw DoorTrouble("no answer came in time") }
                    if found.contains(.cancelled) { throw CancellationError() }
                }
            }
        }
    }

    /// The relay's certificate may be one that only its clients trust: it is enough that it was sent.
    private func shakeHands(over socket: sending StreamSocket, until deadline: ContinuousClock.Instant) async throws {
        let context = try TLSContext.client(options: TLSOptions(applicationProtocols: ["h2"]))
        let stream = try SecureStream(connecting: socket, context: context, serverName: "localhost")
        do {
            try await stream.handshake(until: deadline)
        } catch let error as TLSError {
            guard case .certificateVerification = error.category else { throw error }
        }
    }
}
