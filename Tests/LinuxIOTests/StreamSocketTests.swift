import Glibc
import LinuxIO
import TestSupport
import Testing

struct StreamSocketTests {
    @Test func `bytes arrive whole and in order through small buffers`() async throws {
        let sent = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        let received = try await onReactor { reactor in
            let (ports, port) = AsyncStream.makeStream(of: UInt16.self)
            async let received = ReactorHost(reactor).run { try await Self.receive(on: $0, announcing: port) }
            for await port in ports {
                let deadline = ContinuousClock.now + .seconds(60)
                let socket = try await StreamSocket.connect(to: .loopback(port: port), on: reactor, until: deadline)
                socket.setBuffer(SO_SNDBUF, 4096)
                try await socket.writeAll(sent)
                socket.shutdownWrite()
            }
            return try await received
        }
        #expect(received == sent)
    }

    @Test func `reading an empty socket would block`() async throws {
        try await onReactor { reactor in
            let pair = try SocketPair(on: reactor)
            var buffer = [UInt8](repeating: 0, count: 16)
            #expect(try pair.one.read(into: &buffer) == .wouldBlock)
        }
    }

    @Test func `a wait for bytes ends when they come`() async throws {
        try await onReactor { reactor in
            let pair = try SocketPair(on: reactor)
            #expect(try pair.other.write([1, 2, 3].span) == .bytes(3))
            #expect(await pair.one.waiter.wait(for: .readable, until: .now + .seconds(60)) == .readable)
            #expect(try await pair.one.readAll(upTo: 3) == [1, 2, 3])
        }
    }

    @Test func `fewer bytes than are to gather end no wait, and are there afterwards`() async throws {
        try await onReactor { reactor in
            let pair = try await SocketPair.overTCP(on: reactor)
            try await pair.other.writeAll([1, 2, 3])
            #expect(
                await pair.one.waiter.wait(for: .readable, atLeast: 4, until: .now + .milliseconds(20)) == .timedOut)
            #expect(await pair.one.waiter.wait(for: .readable, until: .now + .seconds(60)) == .readable)
            #expect(try await pair.one.readAll(upTo: 3) == [1, 2, 3])
            #expect(await pair.one.waiter.wait(for: .readable, atLeast: 4, until: .now + .milliseconds(1)) == .timedOut)
            #expect(try pair.one.read { _ in } == .wouldBlock)
            try await pair.other.writeAll([4])
            #expect(await pair.one.waiter.wait(for: .readable, until: .now + .seconds(60)) == .readable)
            #expect(try await pair.one.readAll(upTo: 1) == [4])
        }
    }

    @Test(arguments: [1, 2, 60])
    func `the wait ends once enough bytes have gathered, whatever was waited for before`(count: Int) async throws {
        try await onReactor { reactor in
            let pair = try await SocketPair.overTCP(on: reactor)
            for wanted in [100, count, count + 1, 1, count] {
                try await pair.other.writeAll(Array(repeating: 7, count: wanted))
                #expect(
                    await pair.one.waiter.wait(for: .readable, atLeast: wanted, until: .now + .seconds(60)) == .readable
                )
                #expect(try await pair.one.readAll(upTo: wanted).count == wanted)
            }
        }
    }

    @Test func `gathering again and again finds what came in between, and the end`() async throws {
        try await onReactor { reactor in
            let pair = try await SocketPair.overTCP(on: reactor)
            for byte: UInt8 in 1...3 {
                try await pair.other.writeAll([byte])
                var found: [UInt8] = []
                while found.isEmpty {
                    _ = await pair.one.waiter.wait(for: .readable, atLeast: 60, until: .now + .milliseconds(1))
                    _ = try pair.one.read { bytes in for index in bytes.indices { found.append(bytes[index]) } }
                }
                #expect(found == [byte])
            }
            pair.other.shutdownWrite()
            #expect(await pair.one.waiter.wait(for: .readable, atLeast: 60, until: .now + .seconds(60)) == .readable)
            #expect(try pair.one.read { _ in } == .closed)
        }
    }

    @Test func `bytes that come after the socket was emptied are read once the reactor has heard of them`() async throws
    {
        try await onReactor { reactor in
            let pair = try await SocketPair.overTCP(on: reactor)
            for byte: UInt8 in 1...3 {
                try await pair.other.writeAll([byte])
                #expect(await pair.one.waiter.wait(for: .readable, until: .now + .seconds(60)) == .readable)
                #expect(try pair.one.read { _ in } == .bytes(1))
                #expect(try pair.one.read { _ in } == .wouldBlock)
            }
        }
    }

    @Test func `a reset ends the gathering of bytes`() async throws {
        try await onReactor { reactor in
            let pair = try await SocketPair.overTCP(on: reactor)
            pair.other.abort()
            #expect(
                await pair.one.waiter.wait(for: .readable, atLeast: 60, until: .now + .seconds(60)).contains(.hangup))
        }
    }

    @Test func `the end of the stream is seen after a short read`() async throws {
        try await onReactor { reactor in
            let pair = try await SocketPair.overTCP(on: reactor)
            #expect(try pair.one.write([7].span) == .bytes(1))
            pair.one.shutdownWrite()
            // Both have arrived, and been noted, before the first read takes the byte.
            try await reactor.sleep(for: .milliseconds(5))
            #expect(try await pair.other.readAll() == [7])
        }
    }

    @Test func `one direction may end while the other goes on`() async throws {
        try await onReactor { reactor in
            let pair = try await SocketPair.overTCP(on: reactor)
            pair.one.shutdownWrite()
            #expect(try await pair.other.readAll() == [])
            try await pair.other.writeAll([9, 9])
            #expect(try await pair.one.readAll(upTo: 2) == [9, 9])
        }
    }

    @Test func `writing to a closed peer is an error and no signal`() async throws {
        try await onReactor { reactor in
            let socket = try SocketPair(on: reactor).one
            let error = #expect(throws: SystemError.self) { _ = try socket.write([1].span) }
            #expect(error?.isConnectionReset == true)
        }
    }

    @Test func `an abort resets the peer at once`() async throws {
        try await onReactor { reactor in
            let pair = try await SocketPair.overTCP(on: reactor)
            pair.one.abort()
            let found = await pair.other.waiter.wait(for: .readable, until: .now + .seconds(60))
            #expect(found.contains(.hangup))
            var buffer = [UInt8](repeating: 0, count: 16)
            let error = #expect(throws: SystemError.self) { _ = try pair.other.read(into: &buffer) }
            #expect(error?.name == "ECONNRESET")
        }
    }

    /// Accepts one connection and reads all of it through a small buffer.
    private static func receive(
        on reactor: Reactor, announcing port: AsyncStream<UInt16>.Continuation
    ) async throws -> [UInt8] {
        let listener = try Listener(on: .loopback(), reactor: reactor)
        port.yield(listener.address.port)
        port.finish()
        let socket = try #require(try await listener.accept(until: .now + .seconds(60)))
        return try await socket.readAll()
    }
}
