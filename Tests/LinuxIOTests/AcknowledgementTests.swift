import Glibc
import LinuxIO
import TestSupport
import Testing

struct AcknowledgementTests {
    @Test func `what the peer's kernel has taken is acknowledged, read or not`() async throws {
        try await onReactor { reactor in
            let pair = try await SocketPair.overTCP(on: reactor)
            try await pair.one.writeAll([UInt8](repeating: 1, count: 1000))
            try await Self.waitForAcknowledgement(of: pair.one, on: reactor)
            #expect(pair.one.unacknowledgedByteCount == 0)
        }
    }

    @Test func `what the peer has no room for is not acknowledged`() async throws {
        try await onReactor { reactor in
            let pair = try await SocketPair.overTCP(on: reactor)
            pair.other.setBuffer(SO_RCVBUF, 4096)
            let block = [UInt8](repeating: 1, count: 65_536)
            var handedOver = 0
            while case .bytes(let count) = try pair.one.write(block.span) { handedOver += count }
            try await reactor.sleep(for: .milliseconds(20))
            let unacknowledged = pair.one.unacknowledgedByteCount
            #expect(unacknowledged > 0 && unacknowledged < handedOver)
        }
    }

    @Test func `a reset acknowledges nothing more`() async throws {
        try await onReactor { reactor in
            let pair = try await SocketPair.overTCP(on: reactor)
            pair.other.setBuffer(SO_RCVBUF, 4096)
            let block = [UInt8](repeating: 1, count: 65_536)
            while case .bytes = try pair.one.write(block.span) {}
            pair.other.abort()
            _ = await pair.one.waiter.wait(for: .readable, until: .now + .seconds(60))
            #expect(pair.one.unacknowledgedByteCount > 0)
        }
    }

    private static func waitForAcknowledgement(of socket: StreamSocket, on reactor: Reactor) async throws {
        let deadline = ContinuousClock.now + patience
        while socket.unacknowledgedByteCount > 0 && deadline > .now { try await reactor.sleep(for: .milliseconds(1)) }
    }
}
