import LinuxIO
import TestSupport
import Testing

struct ListenerTests {
    @Test func `the kernel's choice of port is told`() async throws {
        try await onReactor { reactor in
            let listener = try Listener(on: .loopback(port: 0), reactor: reactor)
            #expect(listener.address.port > 0)
            #expect(listener.address.host == "127.0.0.1")
        }
    }

    @Test func `a port in use is an error that names it`() async throws {
        try await onReactor { reactor in
            let listener = try Listener(on: .loopback(), reactor: reactor)
            let error = #expect(throws: SystemError.self) { _ = try Listener(on: listener.address, reactor: reactor) }
            #expect(error?.name == "EADDRINUSE")
            #expect(error?.subject == listener.address.description)
        }
    }

    @Test func `connections that came together are all accepted`() async throws {
        try await onReactor { reactor in
            let listener = try Listener(on: .loopback(), reactor: reactor)
            var clients: [StreamSocket] = []
            for _ in 0..<50 {
                clients.append(
                    try await StreamSocket.connect(to: listener.address, on: reactor, until: .now + .seconds(60)))
            }
            var peers: Set<SocketAddress?> = []
            for _ in clients { peers.insert(try await listener.accept(until: .now + .seconds(60))?.peerAddress) }
            #expect(peers == Set(clients.map(\.localAddress)))
        }
    }

    @Test func `accepting ends at the deadline and when woken`() async throws {
        try await onReactor { reactor in
            let listener = try Listener(on: .loopback(), reactor: reactor)
            #expect(try await listener.accept(until: .now + .milliseconds(5)) == nil)
            listener.waiter.wake()
            #expect(try await listener.accept() == nil)
        }
    }

    @Test func `IPv6 works like IPv4`() async throws {
        try await onReactor { reactor in
            let listener = try Listener(
                on: #require(SocketAddress(host: "::1", port: 0)), reactor: reactor)
            let socket = try await StreamSocket.connect(
                to: listener.address, on: reactor, until: .now + .seconds(60))
            #expect(socket.peerAddress == listener.address)
        }
    }
}
