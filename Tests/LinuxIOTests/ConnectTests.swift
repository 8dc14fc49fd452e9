import Foundation
import TestSupport
import Testing

@testable import LinuxIO

struct ConnectTests {
    @Test func `nobody listening is refused at once`() async throws {
        try await onReactor { reactor in
            let port = try Listener(on: .loopback(), reactor: reactor).address.port
            let error = await thrownError(ConnectError.self) {
                _ = try await StreamSocket.connect(
                    to: .loopback(port: port), on: reactor, until: .now + .seconds(60))
            }
            #expect(error?.attempts.first?.isConnectionRefused == true)
            #expect(error?.description.hasPrefix("connect 127.0.0.1:\(port): Connection refused") == true)
        }
    }

    @Test func `an address that answers wins over those that refuse`() async throws {
        try await onReactor { reactor in
            let listener = try Listener(on: .loopback(), reactor: reactor)
            let dead = try Listener(on: .loopback(), reactor: reactor).address
            let socket = try await StreamSocket.connect(
                toAnyOf: [dead, dead, listener.address], on: reactor, until: .now + .seconds(60))
            #expect(socket.peerAddress == listener.address)
        }
    }

    @Test func `an address that answers wins over one that is silent`() async throws {
        try await onReactor { reactor in
            let listener = try Listener(on: .loopback(), reactor: reactor)
            let silent = try await SilentPort(on: reactor)
            let socket = try await StreamSocket.connect(
                toAnyOf: [silent.address, listener.address], on: reactor, until: .now + .seconds(60))
            #expect(socket.peerAddress == listener.address)
        }
    }

    @Test func `a host is reached over IPv4 when nobody answers over IPv6`() async throws {
        try await onReactor { reactor in
            let listener = try Listener(on: .loopback(), reactor: reactor)
            let six = try #require(SocketAddress("[::1]:\(listener.address.port)"))
            let socket = try await StreamSocket.connect(
                toAnyOf: [six, listener.address], on: reactor, until: .now + .seconds(60))
            #expect(socket.peerAddress == listener.address)
        }
    }

    @Test(.enabled(if: hasIPv6, "needs IPv6"))
    func `a host is reached over IPv6 while IPv4 is silent`() async throws {
        try await onReactor { reactor in
            let listener = try Listener(on: #require(SocketAddress("[::1]:0")), reactor: reactor)
            let silent = try await SilentPort(on: reactor)
            let socket = try await StreamSocket.connect(
                toAnyOf: [silent.address, listener.address], on: reactor, until: .now + .seconds(60))
            #expect(socket.peerAddress == listener.address)
        }
    }

    @Test func `silence ends at the deadline`() async throws {
        try await onReactor { reactor in
            let silent = try await SilentPort(on: reactor)
            let error = await thrownError(ConnectError.self) {
                _ = try await StreamSocket.connect(
                    to: silent.address, on: reactor, until: .now + .milliseconds(50))
            }
            #expect(error?.attempts.first?.isTimeOut == true)
        }
    }

    @Test func `cancelling ends a connect`() async throws {
        let reactor = try Reactor()
        defer { reactor.stop() }
        let connecting = Task {
            try await ReactorHost(reactor).run { reactor in
                let silent = try await SilentPort(on: reactor)
                _ = try await StreamSocket.connect(to: silent.address, on: reactor, until: .now + .seconds(60))
            }
        }
        connecting.cancel()
        await #expect(throws: CancellationError.self) { try await connecting.value }
    }

    @Test func `families alternate, beginning with the preferred one`() throws {
        let four = try ["10.0.0.1:1", "10.0.0.2:1", "10.0.0.3:1"].map { try #require(SocketAddress($0)) }
        let six = try [#require(SocketAddress("[::1]:1"))]
        #expect(ConnectRace.alternating(six + four) == [six[0], four[0], four[1], four[2]])
        #expect(ConnectRace.alternating(four + six) == [four[0], six[0], four[1], four[2]])
    }
}

/// Whether this machine has an address of IPv6, the loopback's at least.
private let hasIPv6 = FileManager.default.contents(atPath: "/proc/net/if_inet6")?.isEmpty == false

/// A port whose queue of connections is full, so that the kernel answers no further one.
private struct SilentPort {
    let address: SocketAddress
    private let listener: Listener
    private let fillers: [StreamSocket]

    init(on reactor: Reactor) async throws {
        listener = try Listener(on: .loopback(), reactor: reactor, backlog: 0)
        address = listener.address
        var fillers: [StreamSocket] = []
        var isFull = false
        while !isFull && fillers.count < 16 {
            do {
                let deadline = ContinuousClock.now + .milliseconds(50)
                fillers.append(try await StreamSocket.connect(to: address, on: reactor, until: deadline))
            } catch is ConnectError {
                isFull = true
            }
        }
        self.fillers = fillers
    }
}
