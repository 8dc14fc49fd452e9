import LinuxIO
import TestSupport

/// A client of type REQ over TCP that speaks ZMTP 3.0 without libzmq, or whatever a test wants.
final class HandmadeClient {
    let socket: StreamSocket
    /// What was read and not looked at yet.
    private var received: [UInt8] = []

    init(_ socket: StreamSocket) { self.socket = socket }

    /// Signature, version 3.0, the mechanism NULL, no server, and filler (RFC 23, "ZMTP", greeting).
    static let greeting: [UInt8] =
        [0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0x7F, 3, 0] + Array("NULL".utf8) + [UInt8](repeating: 0, count: 48)

    /// The command READY with the socket's type.
    static func ready(_ type: String) -> [UInt8] {
        let body = [5] + Array("READY".utf8) + [11] + Array("Socket-Type".utf8) + [0, 0, 0, UInt8(type.utf8.count)]
        return [4, UInt8(body.count + type.utf8.count)] + body + Array(type.utf8)
    }

    /// A message of type REQ: an empty part, then the parts of the request.
    static func request(_ parts: [[UInt8]]) -> [UInt8] {
        parts.indices.reduce(into: [1, 0]) { frames, index in
            frames += frame(parts[index], hasMore: index + 1 < parts.count)
        }
    }

    private static func frame(_ body: [UInt8], hasMore: Bool) -> [UInt8] {
        let flag: UInt8 = hasMore ? 1 : 0
        if body.count < 256 { return [flag, UInt8(body.count)] + body }
        return [flag | 2] + length(body.count) + body
    }

    /// A long frame's length.
    static func length(_ count: Int) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: count >> $0) }
    }

    /// Connects, and does no more.
    static func connect(to endpoint: String, on reactor: Reactor) async throws -> HandmadeClient {
        guard let address = SocketAddress(String(endpoint.dropFirst("tcp://".count))) else {
            throw SystemError(code: 22, operation: "connect", subject: endpoint)
        }
        return HandmadeClient(try await .connect(to: address, on: reactor, until: .now + .seconds(60)))
    }

    /// Connects and greets.
    static func greeted(_ endpoint: String, type: String = "REQ", on reactor: Reactor) async throws -> HandmadeClient {
        let client = try await connect(to: endpoint, on: reactor)
        try await client.greet(as: type)
        return client
    }

    /// Greets as a socket of this type, and reads the greeting and the READY of the other side.
    func greet(as type: String = "REQ") async throws {
        try await socket.writeAll(Self.greeting + Self.ready(type))
        _ = try await read(64)
        guard let head = try await read(2) else { return }
        _ = try await read(Int(head[1]))
    }

    /// Sends a request of one part.
    func send(_ request: [UInt8]) async throws { try await send([request]) }

    /// Sends a request of several parts.
    func send(_ parts: [[UInt8]]) async throws { try await socket.writeAll(Self.request(parts)) }

    /// Reads a reply of one part; `nil` if the connection ended.
    func reply() async throws -> [UInt8]? {
        guard let head = try await read(3) else { return nil }
        let count = try await read(head[2] & 2 == 0 ? 1 : 8)?.reduce(0) { $0 << 8 | Int($1) }
        return try await read(count ?? 0)
    }

    /// Reads so many bytes; `nil` if the connection ended before.
    func read(_ count: Int) async throws -> [UInt8]? {
        if received.count < count { received += try await socket.readAll(upTo: count - received.count) }
        guard received.count >= count else { return nil }
        defer { received.removeFirst(count) }
        return Array(received.prefix(count))
    }
}
