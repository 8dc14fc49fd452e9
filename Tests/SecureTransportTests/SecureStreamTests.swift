import LinuxIO
import OpenSSL
import SecureTransport
import TestSupport
import Testing

struct SecureStreamTests {
    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `ten megabytes come back as they were written`(version: TLSVersion) async throws {
        let bytes = pattern(10_000_000)
        let wire = try Wire(options: TLSOptions(versions: version...version))
        let result = try await wire.run { stream in
            try await stream.handshake(until: .soon)
            try await stream.send(try await stream.receive(upTo: bytes.count).bytes)
            return await stream.shutdown(until: .soon).isMutual
        } use: { stream in
            try await stream.handshake(until: .soon)
            try await stream.send(bytes)
            let echo = try await stream.receive()
            _ = await stream.shutdown(until: .soon)
            return echo.bytes == bytes && echo.isClean == true
        }
        #expect(result.used && result.served)
    }

    @Test func `small reads yield the same bytes`() async throws {
        let bytes = pattern(200_000)
        let result = try await Wire().run { stream in
            try await stream.handshake(until: .soon)
            try await stream.send(bytes)
            _ = await stream.shutdown(until: .soon)
        } use: { stream in
            try await stream.handshake(until: .soon)
            let received = try await stream.receive(limit: 777).bytes
            _ = await stream.shutdown(until: .soon)
            return received
        }
        #expect(result.used == bytes)
    }

    @Test func `nothing to read would block, and nothing to write is flushed`() async throws {
        let result = try await Wire().run { stream in
            try await stream.handshake(until: .soon)
            _ = try await stream.receive()
        } use: { stream in
            try await stream.handshake(until: .soon)
            var bytes: [UInt8] = []
            let isIdle = try stream.read(into: &bytes) == .wouldBlock && stream.flush()
            _ = await stream.shutdown(until: .now)
            return isIdle
        }
        #expect(result.used)
    }

    @Test func `plaintext beyond the limit of one read needs no further wait`() async throws {
        let result = try await Wire().run { stream in
            try await stream.handshake(until: .soon)
            try await stream.send(pattern(1000))
            _ = try await stream.receive()
        } use: { stream in
            try await stream.handshake(until: .soon)
            _ = await stream.wait(until: .soon)
            let first = try await stream.receive(upTo: 1, limit: 1).bytes
            let found = await stream.wait(until: .soon)
            let rest = try await stream.receive(upTo: 999).bytes
            _ = await stream.shutdown(until: .now)
            return (found, first + rest)
        }
        #expect(result.used.0 == .readable)
        #expect(result.used.1 == pattern(1000))
    }

    @Test func `a wake ends a wait`() async throws {
        let result = try await Wire().run { stream in
            try await stream.handshake(until: .soon)
            _ = try await stream.receive()
        } use: { stream in
            try await stream.handshake(until: .soon)
            stream.wake()
            let found = await stream.wait(until: .soon)
            _ = await stream.shutdown(until: .now)
            return found.contains(.woken)
        }
        #expect(result.used)
    }
}
