import LinuxIO
import OpenSSL
import SecureTransport
import TestSupport
import Testing

struct ClosingTests {
    @Test func `a goodbye is told from a cut`() async throws {
        let result = try await Wire().run { stream in
            try await stream.handshake(until: .soon)
            return try await stream.receive().isClean
        } use: { stream in
            try await stream.handshake(until: .soon)
            return await stream.shutdown(until: .soon).late
        }
        #expect(result.served == true)
        #expect(result.used.isEmpty)
    }

    @Test func `a stream that ends without a goodbye is cut`() async throws {
        let wire = try Wire()
        let found = try await onReactor { reactor in
            let pair = try await SocketPair.overTCP(on: reactor)
            return try await Self.readAfterCut(pair, wire)
        }
        #expect(found == .closed(isClean: false))
    }

    @Test func `a reset is an error`() async throws {
        let result = try await Wire().run { stream in
            try await stream.handshake(until: .soon)
            _ = await stream.wait(until: .soon)
            stream.abort()
        } use: { stream in
            try await stream.handshake(until: .soon)
            try await stream.send([1])
            return await thrownError(SystemError.self) { _ = try await stream.receive() }
        }
        #expect(result.used?.isConnectionReset == true)
    }

    @Test func `unread tickets destroy nothing at shutdown`() async throws {
        let bytes = pattern(3_000_000)
        for _ in 0..<3 {
            let result = try await Wire().run { stream in
                try await stream.handshake(until: .soon)
                return try await stream.receive()
            } use: { stream in
                try await stream.handshake(until: .soon)
                try await stream.send(bytes)
                return await stream.shutdown(until: .soon).isMutual
            }
            #expect(result.served.bytes == bytes && result.served.isClean == true && result.used)
        }
    }

    @Test func `what comes after the goodbye is handed over`() async throws {
        let result = try await Wire().run { stream in
            try await stream.handshake(until: .soon)
            _ = try await stream.receive()
            try await stream.send([8, 7, 0, 0, 0, 1])
            return await stream.shutdown(until: .soon).isMutual
        } use: { stream in
            try await stream.handshake(until: .soon)
            try await stream.send([1])
            return await stream.shutdown(until: .soon)
        }
        #expect(result.used.late == [8, 7, 0, 0, 0, 1])
        #expect(result.used.isMutual && result.served)
    }

    @Test func `a peer that never ends its stream is left at the deadline`() async throws {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let result = try await Wire().run { stream in
            try await stream.handshake(until: .soon)
            for await _ in ended {}
        } use: { stream in
            try await stream.handshake(until: .soon)
            let farewell = await stream.shutdown(until: .now + .milliseconds(20))
            end.finish()
            return farewell.isMutual
        }
        #expect(!result.used)
    }

    @Test func `a peer that closes right after the handshake is read to its end`() async throws {
        let result = try await Wire().run { stream in
            try await stream.handshake(until: .soon)
            return await stream.shutdown(until: .soon).isMutual
        } use: { stream in
            try await stream.handshake(until: .soon)
            let isClean = try await stream.receive().isClean
            _ = await stream.shutdown(until: .soon)
            return isClean
        }
        #expect(result.used == true)
        #expect(result.served)
    }

    /// Shakes hands on a pair, ends the server's TCP stream bare, and says what the client reads.
    private static func readAfterCut(_ pair: SocketPair, _ wire: Wire) async throws -> SecureStream.ReadResult {
        let client = try SecureStream(connecting: pair.one, context: wire.client, serverName: "localhost")
        let server = try SecureStream(accepting: pair.other, context: wire.server)
        _ = await thrownError(SystemError.self) { try await client.handshake(until: .now + .milliseconds(20)) }
        _ = await thrownError(SystemError.self) { try await server.handshake(until: .now + .milliseconds(20)) }
        try await client.handshake(until: .soon)
        try await server.handshake(until: .soon)
        pair.other.shutdownWrite()
        _ = await client.wait(until: .soon)
        var bytes: [UInt8] = []
        return try client.read(into: &bytes)
    }
}
