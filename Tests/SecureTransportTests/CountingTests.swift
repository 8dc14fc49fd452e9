import LinuxIO
import OpenSSL
import SecureTransport
import TestSupport
import Testing

struct CountingTests {
    @Test func `everything handed over is acknowledged in the end`() async throws {
        let result = try await Wire().run { stream in
            try await stream.handshake(until: .soon)
            _ = try await stream.receive()
        } use: { stream in
            try await stream.handshake(until: .soon)
            try await stream.send(pattern(500_000))
            let deadline = ContinuousClock.Instant.soon
            while stream.acknowledgedByteCount < stream.encryptedByteCount && deadline > .now {
                _ = await stream.waiter.wait(until: .now + .milliseconds(1))
            }
            let counts = [stream.acknowledgedByteCount, stream.handedOverByteCount, stream.encryptedByteCount]
            _ = await stream.shutdown(until: .soon)
            return counts
        }
        #expect(Set(result.used).count == 1)
        #expect(result.used[0] > 500_000)
    }

    @Test func `what the peer does not read is neither handed over nor acknowledged`() async throws {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let result = try await Wire().run { stream in
            try await stream.handshake(until: .soon)
            for await _ in ended {}
        } use: { stream in
            try await stream.handshake(until: .soon)
            try stream.write(pattern(20_000_000).span)
            _ = try stream.flush()
            _ = await stream.waiter.wait(until: .now + .milliseconds(20))
            let counts = [stream.acknowledgedByteCount, stream.handedOverByteCount, stream.encryptedByteCount]
            stream.abort()
            end.finish()
            return (counts, stream.acknowledgedByteCount)
        }
        let (counts, afterwards) = result.used
        #expect(counts[0] > 0 && counts[0] <= counts[1] && counts[1] < counts[2])
        #expect(afterwards >= counts[0] && afterwards <= counts[1])
    }

    @Test func `flushing a broken connection is an error each time, and reading still works`() async throws {
        let result = try await Wire().run { stream in
            try await stream.handshake(until: .soon)
            try await stream.send([8, 8])
            stream.abort()
        } use: { stream in
            try await stream.handshake(until: .soon)
            _ = await stream.waiter.wait(for: [], until: .now + .seconds(60))
            try stream.write([1, 2, 3].span)
            let first = await thrownError(SystemError.self) { _ = try stream.flush() }
            let second = await thrownError(SystemError.self) { _ = try stream.flush() }
            return first != nil && second != nil
        }
        #expect(result.used)
    }
}
