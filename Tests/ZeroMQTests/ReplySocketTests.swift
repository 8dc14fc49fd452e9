import LinuxIO
import TestSupport
import Testing
import ZeroMQ

struct ReplySocketTests {
    @Test func `a request gets its reply`() async throws {
        try await onReactor { reactor in
            let socket = try ReplySocket(on: anyPort, reactor: reactor)
            let client = try await HandmadeClient.greeted(socket.endpoint, on: reactor)
            for number in 0..<20 {
                try await client.send(Array("feedback \(number)".utf8))
                #expect(try await socket.reply("OK \(number)", to: "feedback \(number)"))
                #expect(try await client.reply() == Array("OK \(number)".utf8))
            }
        }
    }

    @Test(arguments: [0, 1, 255, 256, 100_000])
    func `requests and replies may have any length`(count: Int) async throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        try await onReactor { reactor in
            let socket = try ReplySocket(on: anyPort, reactor: reactor)
            let client = try await HandmadeClient.greeted(socket.endpoint, on: reactor)
            try await client.send(bytes)
            #expect(try await socket.nextRequest() == .whole(bytes))
            try socket.send(bytes)
            #expect(try await client.reply() == bytes)
        }
    }

    @Test func `clients take turns, and each gets its own reply`() async throws {
        try await onReactor { reactor in
            let socket = try ReplySocket(on: anyPort, reactor: reactor)
            var clients: [HandmadeClient] = []
            for _ in 0..<10 { clients.append(try await .greeted(socket.endpoint, on: reactor)) }
            for _ in 0..<5 {
                for number in clients.indices { try await clients[number].send([UInt8(number)]) }
                var numbers: Set<UInt8> = []
                for _ in clients {
                    guard case .whole(let bytes) = try await socket.nextRequest() else { continue }
                    numbers.formUnion(bytes)
                    try socket.send(bytes)
                }
                #expect(numbers.count == clients.count)
                for number in clients.indices { #expect(try await clients[number].reply() == [UInt8(number)]) }
            }
        }
    }

    @Test func `requests that come while one is worked on are not overlooked`() async throws {
        try await onReactor { reactor in
            let socket = try ReplySocket(on: anyPort, reactor: reactor)
            let clients = [
                try await HandmadeClient.greeted(socket.endpoint, on: reactor),
                try await HandmadeClient.greeted(socket.endpoint, on: reactor),
            ]
            try await clients[0].send([0])
            #expect(try await socket.nextRequest() == .whole([0]))
            try await clients[1].send([1])
            // libzmq has told of the second before the reply to the first.
            _ = await socket.wait(until: .now + .milliseconds(50))
            try socket.send([0])
            #expect(try await socket.nextRequest() == .whole([1]))
        }
    }

    @Test func `without a request there is nothing to receive, and a wait ends in time`() async throws {
        try await onReactor { reactor in
            let socket = try ReplySocket(on: anyPort, reactor: reactor)
            #expect(try socket.receive() == nil)
            // The first wait may end because of news that is no request.
            _ = await socket.wait(until: .now + .milliseconds(5))
            #expect(try socket.receive() == nil)
            #expect(await socket.wait(until: .now + .milliseconds(5)) == .timedOut)
            socket.waiter.wake()
            #expect(await socket.wait(until: .now + .seconds(60)) == .woken)
        }
    }

    @Test func `a request of several parts is told from one of one`() async throws {
        try await onReactor { reactor in
            let socket = try ReplySocket(on: anyPort, reactor: reactor)
            let client = try await HandmadeClient.greeted(socket.endpoint, on: reactor)
            try await client.send([1], [2], [3])
            #expect(try await socket.nextRequest() == .multipart)
            try socket.send([4])
            #expect(try await client.reply() == [4])
            try await client.send([5])
            #expect(try await socket.nextRequest() == .whole([5]))
        }
    }

    @Test func `requests and replies alternate`() async throws {
        try await onReactor { reactor in
            let socket = try ReplySocket(on: anyPort, reactor: reactor)
            #expect(throws: ReplySocketError.self) { try socket.send([1]) }
            let client = try await HandmadeClient.greeted(socket.endpoint, on: reactor)
            try await client.send([1])
            #expect(try await socket.nextRequest() == .whole([1]))
            let error = #expect(throws: ReplySocketError.self) { try socket.receive() }
            #expect(error?.description.hasPrefix("zmq_msg_recv: Operation cannot be accomplished") == true)
            try socket.send([2])
            #expect(try await client.reply() == [2])
        }
    }

    @Test func `a reply to a client that has gone is dropped`() async throws {
        try await onReactor { reactor in
            let socket = try ReplySocket(on: anyPort, reactor: reactor)
            do {
                let client = try await HandmadeClient.greeted(socket.endpoint, on: reactor)
                try await client.send([1])
                #expect(try await socket.nextRequest() == .whole([1]))
                client.socket.abort()
            }
            try socket.send([2])
            let client = try await HandmadeClient.greeted(socket.endpoint, on: reactor)
            try await client.send([3])
            #expect(try await socket.nextRequest() == .whole([3]))
        }
    }

    /// A client whose socket was closed right after this reply.
    private static func client(leftWith reply: [UInt8], on reactor: Reactor) async throws -> HandmadeClient {
        let socket = try ReplySocket(on: anyPort, reactor: reactor)
        let client = try await HandmadeClient.greeted(socket.endpoint, on: reactor)
        try await client.send([1])
        #expect(try await socket.nextRequest() == .whole([1]))
        try socket.send(reply)
        return client
    }

    @Test func `the last reply is sent although the socket is closed at once`() async throws {
        try await onReactor { reactor in
            let client = try await Self.client(leftWith: [2], on: reactor)
            #expect(try await client.reply() == [2])
            #expect(try await client.reply() == nil)
        }
    }

    @Test func `closing does not wait for a client that reads nothing`() async throws {
        try await onReactor { reactor in
            let client = try await Self.client(leftWith: [UInt8](repeating: 7, count: 50 << 20), on: reactor)
            // What did not fit into the kernel's buffers is lost.
            #expect(try await client.socket.readAll().count < 50 << 20)
        }
    }
}
