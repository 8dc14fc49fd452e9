import LinuxIO
import TestSupport
import Testing
import ZeroMQ

/// Clients that break the protocol. None may harm the others.
struct HostileClientTests {
    /// Checks that a proper client is served, whatever others have sent before it.
    private static func serve(_ socket: ReplySocket, on reactor: Reactor) async throws {
        let client = try await HandmadeClient.greeted(socket.endpoint, on: reactor)
        let request = Array("feedback".utf8)
        try await client.send(request)
        while try await socket.reply([43]) != request {}
        #expect(try await client.reply() == [43])
    }

    @Test(arguments: [
        Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8), [UInt8](repeating: 0, count: 300),
        [UInt8](repeating: 0xFF, count: 300), HandmadeClient.greeting + [UInt8](repeating: 0xFF, count: 300),
        HandmadeClient.greeting + HandmadeClient.request([[1]]),
        HandmadeClient.greeting + HandmadeClient.ready("PUB") + HandmadeClient.request([[1]]),
        HandmadeClient.greeting + HandmadeClient.ready("REQ") + [0, 1, 7],
        HandmadeClient.greeting + HandmadeClient.ready("REQ") + [4, 255],
    ])
    func `junk makes no request`(junk: [UInt8]) async throws {
        try await onReactor { reactor in
            let socket = try ReplySocket(on: anyPort, reactor: reactor)
            let client = try await HandmadeClient.connect(to: socket.endpoint, on: reactor)
            try await client.socket.writeAll(junk)
            client.socket.shutdownWrite()
            try await Self.serve(socket, on: reactor)
            #expect(try socket.receive()?.bytes == nil)
        }
    }

    @Test func `no random bytes harm the socket`() async throws {
        try await onReactor { reactor in
            let socket = try ReplySocket(on: anyPort, reactor: reactor)
            for seed in UInt64(0)..<200 {
                var random = SeededGenerator(seed: seed)
                let isGreeted = Bool.random(using: &random)
                let client = try await HandmadeClient.connect(to: socket.endpoint, on: reactor)
                let start = isGreeted ? HandmadeClient.greeting + HandmadeClient.ready("REQ") : []
                let junk = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                    UInt8.random(in: 0...(Bool.random(using: &random) ? 4 : 255), using: &random)
                }
                try? await client.socket.writeAll(start + junk)
                try await Self.serve(socket, on: reactor)
            }
        }
    }

    @Test(arguments: [0, 5, 11, 63, 64, 70])
    func `a client that does not end its greeting is disconnected`(count: Int) async throws {
        try await onReactor { reactor in
            var options = ReplySocket.Options()
            options.handshakeLimit = .milliseconds(50)
            let socket = try ReplySocket(on: anyPort, options: options, reactor: reactor)
            let client = try await HandmadeClient.connect(to: socket.endpoint, on: reactor)
            try await client.socket.writeAll(
                Array((HandmadeClient.greeting + HandmadeClient.ready("REQ")).prefix(count)))
            // The greeting of the other side, and the end of the connection.
            #expect(await Self.ends(client))
            try await Self.serve(socket, on: reactor)
        }
    }

    /// Reads until the connection ends, one way or the other.
    private static func ends(_ client: HandmadeClient) async -> Bool {
        do {
            _ = try await client.socket.readAll()
            return true
        } catch {
            return (error as? SystemError)?.name == "ECONNRESET"
        }
    }

    @Test func `a request beyond the limit ends its connection before it is read`() async throws {
        try await onReactor { reactor in
            var options = ReplySocket.Options()
            options.requestByteLimit = 1000
            let socket = try ReplySocket(on: anyPort, options: options, reactor: reactor)
            let good = try await HandmadeClient.greeted(socket.endpoint, on: reactor)
            try await good.send([UInt8](repeating: 1, count: 1000))
            #expect(try await socket.reply([2])?.count == 1000)
            #expect(try await good.reply() == [2])
            for length in [1001, 1 << 40, Int.max] {
                let client = try await HandmadeClient.greeted(socket.endpoint, on: reactor)
                try await client.socket.writeAll([1, 0, 2] + HandmadeClient.length(length))
                #expect(await Self.ends(client), "\(length)")
            }
            try await Self.serve(socket, on: reactor)
        }
    }

    @Test func `a request that breaks off makes no request`() async throws {
        let whole = HandmadeClient.request([[1, 2, 3], [4, 5, 6]])
        try await onReactor { reactor in
            let socket = try ReplySocket(on: anyPort, reactor: reactor)
            for count in whole.indices {
                let client = try await HandmadeClient.greeted(socket.endpoint, on: reactor)
                try await client.socket.writeAll(Array(whole[..<count]))
                client.socket.shutdownWrite()
                #expect(await Self.ends(client), "\(count)")
            }
            try await Self.serve(socket, on: reactor)
            #expect(try socket.receive() == nil)
        }
    }
}
