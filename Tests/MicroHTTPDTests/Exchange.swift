import LinuxIO
import MicroHTTPD
import TestSupport
import Testing

/// A server and one client of it, on a reactor.
final class Exchange {
    let server: HTTPServer
    private let watch: Channel
    private let client: StreamSocket
    private var events: [HTTPServer.Event] = []
    private var arrived = ""
    private var hasEnded = false
    /// The server's clock.
    var seconds = 0
    /// How much of a body is kept at a time.
    var limit = 1 << 20
    /// The answer to every head, if it is known.
    var refusal: HTTPResponse?
    private(set) var admittedCount = 0

    private init(_ server: HTTPServer, _ watch: Channel, _ client: StreamSocket) {
        (self.server, self.watch, self.client) = (server, watch, client)
    }

    /// Runs `body` with a server and a connected client.
    static func run(_ body: @Sendable (Exchange) async throws -> Void) async throws {
        try await onReactor { reactor in
            let socket = try BoundSocket(.loopback())
            let address = socket.address
            var limits = HTTPServer.Limits()
            limits.discarded = 1 << 20
            guard let server = HTTPServer(socket: socket.takeDescriptor().relinquish(), limits: limits) else {
                throw Failure("no server")
            }
            let client = try await StreamSocket.connect(to: address, on: reactor, until: .now + patience)
            let watch = try Channel(Descriptor(adopting: server.duplicateDescriptor()), on: reactor)
            try await body(Exchange(server, watch, client))
        }
    }

    struct Failure: Error {
        let message: String

        init(_ message: String) { self.message = message }
    }

    /// Lets the server work, and collects what it tells and sends.
    func turn() async throws {
        server.run(at: seconds) { request in
            admittedCount += 1
            return refusal.map { .answer($0) } ?? .read(limit: limit)
        }
        events += server.takeEvents()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        switch try client.read(into: &buffer) {
        case .bytes(let count): arrived += String(decoding: buffer[..<count], as: UTF8.self)
        case .closed: hasEnded = true
        case .wouldBlock: _ = await watch.waitUntilReadable(until: .now + .milliseconds(2))
        }
    }

    /// Sends all of the text, as fast as the server reads.
    func send(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            switch try client.write(rest.span) {
            case .bytes(let count): rest = rest.dropFirst(count)
            case .wouldBlock: server.run(at: seconds) { _ in refusal.map { .answer($0) } ?? .read(limit: limit) }
            }
        }
    }

    /// Ends the client's stream.
    func finishSending() { client.shutdownWrite() }

    func nextEvent() async throws -> HTTPServer.Event {
        try await wait { !events.isEmpty }
        return events.removeFirst()
    }

    /// Waits for a whole request, past the ends of others.
    func nextWhole() async throws -> HTTPRequest {
        while true {
            switch try await nextEvent() {
            case .whole(let request): return request
            case .ended: continue
            case .piece, .drained: throw Failure("another event")
            }
        }
    }

    /// Waits for the end of a request, and returns whether its answer was delivered.
    func isDelivered() async throws -> Bool {
        guard case .ended(_, let isDelivered) = try await nextEvent() else { throw Failure("another event") }
        return isDelivered
    }

    /// Waits until the text has arrived, and returns all up to it.
    func received(until text: String) async throws -> String {
        try await wait { arrived.contains(text) }
        // What has come behind it is for the next call.
        let head = try arrived[..<#require(arrived.firstRange(of: text)).upperBound]
        arrived = String(arrived[head.endIndex...])
        return String(head)
    }

    func receivedToTheEnd() async throws -> String {
        try await wait { hasEnded }
        // The server notices a little later.
        try await wait { server.openConnectionCount == 0 }
        return arrived
    }

    private func wait(_ condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + patience
        while !condition() {
            guard .now < deadline else { throw Failure("waited in vain; arrived: \(arrived)") }
            try await turn()
        }
    }
}
