package import Configuration
import JobOperations
package import LinuxIO
package import Logging
import SpoolModel

/// Serves `GET /metrics` to this host: one request per connection, a few connections at a time, each for a few seconds.
///
/// An idle listener costs no time. The text is made on request and cached for a second, regardless of the number of
/// clients.
package actor MetricsListener {
    /// The most connections at a time; further ones wait in the kernel.
    private static let connectionLimit = 8
    /// The time limit for receiving a request, and then for sending the response.
    private static let patience = Duration.seconds(5)
    /// How long to wait for the client to close the connection, and how many bytes to discard meanwhile.
    private static let farewell = Duration.seconds(1)
    private static let farewellByteLimit = 1 << 16
    /// How long a text stays valid. Making one takes time from the thread that does the work.
    private static let freshness = Duration.seconds(1)

    private nonisolated let reactor: Reactor
    private let place: MetricsPlace
    private let logger: Logger
    private let makeText: @Sendable () async -> [UInt8]
    private var door: ListeningSocket?
    private var connectionCount = 0
    private var last: (text: [UInt8], madeAt: ContinuousClock.Instant)?
    /// Whether a text is being made, broadcast when that ends.
    private var isMaking = false
    private let making: Condition

    /// Creates a listener that is idle until `serve` or `run`.
    package init(
        at place: MetricsPlace, on reactor: Reactor, logger: Logger,
        text makeText: @escaping @Sendable () async -> [UInt8]
    ) {
        (self.place, self.reactor, self.logger) = (place, reactor, logger)
        self.makeText = makeText
        making = Condition(on: reactor)
    }

    /// The executor of the reactor's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// Answers requests until the task is cancelled. If the endpoint cannot be opened, it says so in the log and only waits:
    /// the process works without metrics requests.
    package func serve() async {
        do {
            try await run()
        } catch is CancellationError {
            return
        } catch {
            let hint: Logger.MetadataValue = "set another metrics.listen, or stop the program using it; then restart"
            logger.error(
                "metrics endpoint cannot be opened",
                metadata: [LogKey.path: "\(place)", LogKey.error: "\(error)", LogKey.hint: hint])
        }
        await Wakeup.waitForCancellation(on: reactor)
    }

    /// Listens and answers requests until the task is cancelled.
    ///
    /// - Throws: `CancellationError`; `SystemError`: the address is in use, or cannot be used.
    package func run() async throws {
        door = try ListeningSocket(place, on: reactor)
        defer { door = nil }
        logger.info("listening for metrics requests", metadata: [LogKey.path: "\(place)"])
        try await withThrowingDiscardingTaskGroup { group in
            while true {
                guard let socket = try await nextConnection() else { continue }
                connectionCount += 1
                group.addTask { await self.attend(socket) }
            }
        }
    }

    /// Waits until there are fewer connections than the limit, then for a connection. After `nil` the caller tries
    /// again.
    private func nextConnection() async throws -> sending StreamSocket? {
        guard connectionCount < Self.connectionLimit else {
            let found = await door?.waiter.wait()
            if found?.contains(.cancelled) == true { throw CancellationError() }
            return nil
        }
        do {
            return try await door?.accept()
        } catch let error as SystemError where error.isTransient {
            logger.warning("metrics connection cannot be accepted; retrying", metadata: [LogKey.error: "\(error)"])
            try await reactor.sleep(for: .milliseconds(100))
            return nil
        }
    }

    private func attend(_ socket: sending StreamSocket) async {
        do {
            try await answer(over: socket)
        } catch {
            logger.debug("metrics connection failed", metadata: [LogKey.error: "\(error)"])
        }
        connectionCount -= 1
        door?.waiter.wake()
    }

    private func answer(over socket: StreamSocket) async throws {
        guard let answer = try await request(over: socket, until: .now + Self.patience) else { return }
        let text = await answer == .metrics ? freshText() : []
        let response = ScrapeRequest.response(answer, metrics: text)
        guard try await send(response, over: socket, until: .now + Self.patience) else { return }
        socket.shutdownWrite()
        // Closing a socket with unread bytes resets the connection, and the client could lose the response.
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let deadline = ContinuousClock.now + Self.farewell
        var count = 0
        while count < Self.farewellByteLimit, let part = try await read(into: &buffer, from: socket, until: deadline) {
            count += part
        }
    }

    /// Returns a text no older than `freshness`. Requests that arrive while one is being made wait for it.
    private func freshText() async -> [UInt8] {
        _ = await making.wait { !isMaking }
        if let last, .now < last.madeAt + Self.freshness { return last.text }
        isMaking = true
        defer {
            isMaking = false
            making.broadcast()
        }
        let text = await makeText()
        last = (text, .now)
        return text
    }

    /// Reads the head of a request; `nil` if it does not arrive completely.
    private func request(
        over socket: StreamSocket, until deadline: ContinuousClock.Instant
    ) async throws -> ScrapeRequest.Answer? {
        var request = ScrapeRequest()
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while let count = try await read(into: &buffer, from: socket, until: deadline) {
            if let answer = request.take(buffer[..<count]) { return answer }
        }
        return nil
    }

    /// Reads at least one byte; `nil` at the end of the stream, at the deadline and on cancellation.
    private func read(
        into buffer: inout [UInt8], from socket: StreamSocket, until deadline: ContinuousClock.Instant
    ) async throws -> Int? {
        while true {
            switch try socket.read(into: &buffer) {
            case .bytes(let count): return count
            case .closed: return nil
            case .wouldBlock:
                let found = await socket.waiter.wait(for: .readable, until: deadline)
                if !found.isDisjoint(with: [.cancelled, .timedOut]) { return nil }
            }
        }
    }

    /// Writes all bytes; `false` at the deadline and on cancellation.
    private func send(
        _ bytes: [UInt8], over socket: StreamSocket, until deadline: ContinuousClock.Instant
    ) async throws -> Bool {
        var sentCount = 0
        while sentCount < bytes.count {
            switch try socket.write(bytes.span.extracting(sentCount...)) {
            case .bytes(let count): sentCount += count
            case .wouldBlock:
                let found = await socket.waiter.wait(for: .writable, until: deadline)
                if !found.isDisjoint(with: [.cancelled, .timedOut]) { return false }
            }
        }
        return true
    }
}

extension MetricsListener {
    /// The listening socket.
    private enum ListeningSocket {
        case loopback(Listener)
        case local(LocalListener)

        /// Starts listening. All users of the host may connect, as all may read the metrics file.
        init(_ place: MetricsPlace, on reactor: Reactor) throws(SystemError) {
            switch place {
            case .loopback(let address): self = .loopback(try Listener(on: address, reactor: reactor))
            case .local(let path): self = .local(try LocalListener(at: path, mode: 0o666, reactor: reactor))
            }
        }

        var waiter: Waiter {
            switch self {
            case .loopback(let listener): listener.waiter
            case .local(let listener): listener.waiter
            }
        }

        func accept() async throws -> sending StreamSocket? {
            switch self {
            case .loopback(let listener): return try await listener.accept()
            case .local(let listener): return try await listener.accept()
            }
        }
    }
}
