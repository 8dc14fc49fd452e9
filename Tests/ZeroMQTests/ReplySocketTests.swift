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
                #expect(try await socket.reply(Array("OK \(number)".utf8)) == Array("feedback \(number)".utf8))
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
            #expect(try await socket.reply(bytes) == bytes)
            #expect(try await client.reply() == bytes)
        }
    }

    @Test func `clients' requests are worked on together, and replied to in any order`() async throws {
        try await onReactor { reactor in
            let socket = try ReplySocket(on: anyPort, reactor: reactor)
            var clients: [HandmadeClient] = []
            for _ in 0..<10 { clients.append(try await .greeted(socket.endpoint, on: reactor)) }
            for _ in 0..<5 {
                for number in clients.indices { try await clients[number].send([UInt8(number)]) }
                var requests: [ReplyRequest] = []
                for _ in clients { requests.append(try await socket.nextRequest()) }
                #expect(Set(requests).count == clients.count)
                for request in requests.shuffled() {
                    #expect(try socket.send(request.bytes ?? [], to: request.returnPath) == .sent)
                }
                for number in clients.indices { #expect(try await clients[number].reply() == [UInt8(number)]) }
            }
        }
    }

    @Test func `a request of which sending a reply took the news is not overlooked`() async throws {
        try await onReactor { reactor in
            let socket = try ReplySocket(on: anyPort, reactor: reactor)
            let clients = [
                try await HandmadeClient.greeted(socket.endpoint, on: reactor),
                try await HandmadeClient.greeted(socket.endpoint, on: reactor),
            ]
            try await clients[0].send([0])
            let first = try await socket.nextRequest()
            try await clients[1].send([1])
            _ = await socket.wait(until: .now + .milliseconds(50))
            #expect(try socket.send([0], to: first.returnPath) == .sent)
            #expect(try await socket.nextRequest().bytes == [1])
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

    @Test(arguments: [[[1], [2], [3]], [[], [1]], (0..<40).map { [UInt8($0)] }])
    func `a request of several parts is told from one of one`(parts: [[UInt8]]) async throws {
        try await onReactor { reactor in
            let socket = try ReplySocket(on: anyPort, reactor: reactor)
            let client = try await HandmadeClient.greeted(socket.endpoint, on: reactor)
            try await client.send(parts)
            #expect(try await socket.reply([4]) == nil)
            #expect(try await client.reply() == [4])
            try await client.send([5])
            #expect(try await socket.reply([6]) == [5])
        }
    }

    @Test func `a client of type DEALER may send requests before their replies`() async throws {
        try await onReactor { reactor in
            let socket = try ReplySocket(on: anyPort, reactor: reactor)
            let client = try await HandmadeClient.greeted(socket.endpoint, type: "DEALER", on: reactor)
            for number in UInt8(0)..<50 { try await client.send([number]) }
            for number in UInt8(0)..<50 {
                #expect(try await socket.reply([number]) == [number])
                #expect(try await client.reply() == [number])
            }
        }
    }

    @Test func `a request without the empty part before it is told`() async throws {
        try await onReactor { reactor in
            let socket = try ReplySocket(on: anyPort, reactor: reactor)
            let client = try await HandmadeClient.greeted(socket.endpoint, type: "DEALER", on: reactor)
            try await client.socket.writeAll([0, 1, 7])
            #expect(try await socket.reply([8]) == nil)
            #expect(try await client.read(3) == [0, 1, 8])
        }
    }

    @Test(arguments: [(0, 1, true), (16, 1, true), (16, 2, false), (17, 1, false), (17, 2, false), (17, 9, false)])
    func `a request may come over 16 hops, to which the reply goes`(hops: Int, parts: Int, isWhole: Bool) async throws {
        var (path, request): ([UInt8], [UInt8]) = ([], [])
        for hop in 0..<hops { path += [1, 1, UInt8(hop)] }
        path += [1, 0]
        for part in 1...parts { request += [part < parts ? 1 : 0, 1, 7] }
        let sent = path + request
        let reply: [UInt8] = (hops > 16 ? [] : path) + [0, 1, 8]
        try await onReactor { reactor in
            let socket = try ReplySocket(on: anyPort, reactor: reactor)
            let client = try await HandmadeClient.greeted(socket.endpoint, type: "DEALER", on: reactor)
            try await client.socket.writeAll(sent)
            #expect(try await socket.reply([8]) == (isWhole ? [7] : nil))
            #expect(try await client.read(reply.count) == reply)
        }
    }

    @Test func `a reply to a client that has gone is not sent`() async throws {
        try await onReactor { reactor in
            let socket = try ReplySocket(on: anyPort, reactor: reactor)
            let gone = try await HandmadeClient.greeted(socket.endpoint, on: reactor)
            try await gone.send([1])
            let request = try await socket.nextRequest()
            gone.socket.abort()
            // libzmq's thread notices a little later.
            let deadline = ContinuousClock.now + .seconds(30)
            while try socket.send([2], to: request.returnPath) != .gone, .now < deadline {
                _ = await socket.wait(until: .now + .milliseconds(20))
            }
            #expect(.now < deadline)
            let client = try await HandmadeClient.greeted(socket.endpoint, on: reactor)
            try await client.send([3])
            #expect(try await socket.reply([4]) == [3])
            #expect(try await client.reply() == [4])
        }
    }

    @Test func `replies that a client does not read are bounded, and go on once it reads`() async throws {
        try await onReactor { reactor in
            let socket = try ReplySocket(on: anyPort, reactor: reactor)
            let client = try await HandmadeClient.greeted(socket.endpoint, on: reactor)
            try await client.send([1])
            let path = try await socket.nextRequest().returnPath
            // Far beyond what the kernel's buffers take.
            let reply = [UInt8](repeating: 7, count: 1 << 20)
            var sentCount = 0
            while try socket.send(reply, to: path) == .sent, sentCount < 1_000 { sentCount += 1 }
            #expect((1...100).contains(sentCount))
            for _ in 0..<sentCount { #expect(try await client.reply()?.count == reply.count) }
            while try socket.send([2], to: path) == .full { _ = await socket.wait(until: .now + .seconds(30)) }
            #expect(try await client.reply() == [2])
        }
    }

    /// A client whose socket was closed right after this reply.
    private static func client(leftWith reply: [UInt8], on reactor: Reactor) async throws -> HandmadeClient {
        let socket = try ReplySocket(on: anyPort, reactor: reactor)
        let client = try await HandmadeClient.greeted(socket.endpoint, on: reactor)
        try await client.send([1])
        #expect(try await socket.reply(reply) == [1])
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
