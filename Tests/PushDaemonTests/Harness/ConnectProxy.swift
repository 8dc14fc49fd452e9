import LinuxIO
import TestSupport

/// An HTTP proxy on loopback that opens the way to whatever port it is asked for, to those who have a login.
actor ConnectProxy {
    /// The port on which it listens.
    private(set) var port: UInt16 = 0
    /// The first lines of what it was asked.
    private(set) var questions: [String] = []
    private let reactor: Reactor
    private let authorization: String
    private var clients: [StreamSocket] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// Runs a proxy while `body` runs. `authorization` is what it wants to read in a question.
    static func running(
        authorization: String, _ body: @Sendable (ConnectProxy) async throws -> Void
    ) async throws {
        let reactor = try Reactor(name: "proxy")
        defer { reactor.stop() }
        let proxy = ConnectProxy(reactor, authorization)
        let ready = AsyncStream<Void>.makeStream()
        try await withThrowingTaskGroup { group in
            group.addTask { try await proxy.serve { ready.continuation.yield() } }
            for await _ in ready.stream { break }
            try await body(proxy)
            group.cancelAll()
        }
    }

    private init(_ reactor: Reactor, _ authorization: String) {
        (self.reactor, self.authorization) = (reactor, authorization)
    }

    private func serve(_ begin: @Sendable () -> Void) async throws {
        let listener = try Listener(on: .loopback(), reactor: reactor)
        port = listener.address.port
        begin()
        await withTaskGroup { group in
            while let socket = try? await listener.accept() {
                let number = clients.count
                clients.append(socket)
                group.addTask { await self.open(number) }
            }
            group.cancelAll()
        }
    }

    private func open(_ number: Int) async {
        let client = clients[number]
        do {
            let question = try await readHead(client)
            let line = question.prefix { !$0.isNewline }
            questions.append(String(line))
            guard question.contains(authorization) else {
                return try await client.writeAll(Array("HTTP/1.1 407 No\r\n\r\n".utf8))
            }
            let port = line.split { $0 == ":" || $0 == " " }.compactMap { UInt16($0) }[0]
            let server = try await StreamSocket.connect(
                to: .loopback(port: port), on: reactor, until: .now + .seconds(60))
            try await client.writeAll(Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
            while !Task.isCancelled, try await pass(client, to: server), try await pass(server, to: client) {}
        } catch {
            // One of the two has gone, and the other one sees that the way ends.
        }
    }

    private func readHead(_ socket: StreamSocket) async throws -> String {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual([0x0D, 0x0A, 0x0D, 0x0A]) {
            let byte = try await socket.readAll(upTo: 1)
            // Somebody who only looked whether anybody answers.
            guard !byte.isEmpty else { throw SystemError.brokenPipe("recv") }
            head += byte
        }
        return String(decoding: head, as: UTF8.self)
    }

    /// Passes on what there is, or waits a moment for it; `false` when no more will come.
    private func pass(_ source: StreamSocket, to target: StreamSocket) async throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        switch try source.read(into: &buffer) {
        case .bytes(let count): try await target.writeAll(Array(buffer[..<count]))
        case .closed: return false
        case .wouldBlock: _ = await source.waiter.wait(for: .readable, until: .now + .milliseconds(2))
        }
        return true
    }
}
