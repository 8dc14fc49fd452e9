import LinuxIO
import Logging
import SpoolModel

/// Answers `GET /metrics` on this host: one request a connection, a few connections at a time, each for a few seconds.
///
/// Costs no time while nobody asks. The text is made when it is asked for, at most once a second, however many ask; the
/// last one is kept.
actor MetricsListener {
    /// How many connections there may be; further ones wait in the kernel.
    private static let connectionLimit = 8
    /// How long a request may take to arrive, and then the response to be taken.
    private static let patience = Duration.seconds(5)
    /// How long the other end may take to close, and what it may send meanwhile that is thrown away.
    private static let farewell = Duration.seconds(1)
    private static let farewellByteLimit = 1 << 16
    /// For how long a text is good: making one takes the time of the thread that does the jobs.
    private static let freshness = Duration.seconds(1)

    private nonisolated let reactor: Reactor
    private let place: MetricsPlace
    private let logger: Logger
    private let makeText: @Sendable () async -> [UInt8]
    private var door: Door?
    private var connectionCount = 0
    private var last: (text: [UInt8], madeAt: ContinuousClock.Instant)?
    private var isMaking = false

    /// Creates a listener that does nothing until `run`.
    init(
        at place: MetricsPlace, on reactor: Reactor, logger: Logger,
        text makeText: @escaping @Sendable () async -> [UInt8]
    ) {
        (self.place, self.reactor, self.logger) = (place, reactor, logger)
        self.makeText = makeText
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// Listens, and answers until the task is cancelled.
    ///
    /// - Throws: `CancellationError`; `SystemError`: the address is taken, or cannot be used.
    func run() async throws {
        door = try Door(place, on: reactor)
        defer { door = nil }
        logger.info("metrics can be asked for", metadata: [LogKey.path: "\(place)"])
        try await withThrowingDiscardingTaskGroup { group in
            while true {
                guard let socket = try await nextConnection() else { continue }
                connectionCount += 1
                group.addTask { await self.attend(socket) }
            }
        }
    }

    /// Waits for a connection, and before that until there may be another; `nil` is no reason to stop.
    private func nextConnection() async throws -> sending StreamSocket? {
        guard connectionCount < Self.connectionLimit else {
            let found = await door?.waiter.wait()
            if found?.contains(.cancelled) == true { throw CancellationError() }
            return nil
        }
        do {
            return try await door?.accept()
        } catch let error as SystemError where error.isTransient {
            logger.warning("asking for metrics has to wait", metadata: [LogKey.error: "\(error)"])
            try await reactor.sleep(for: .milliseconds(100))
            return nil
        }
    }

    private func attend(_ socket: sending StreamSocket) async {
        do {
            try await answer(over: socket)
        } catch {
            logger.debug("connection for metrics broken", metadata: [LogKey.error: "\(error)"])
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
        // A close with bytes unread would reset the connection, and could take the response back.
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let deadline = ContinuousClock.now + Self.farewell
        var count = 0
        while count < Self.farewellByteLimit, let part = try await read(into: &buffer, from: socket, until: deadline) {
            count += part
        }
    }

    /// The text, no older than `freshness`. Who asks while one is made gets that one.
    private func freshText() async -> [UInt8] {
        while isMaking, !Task.isCancelled { try? await reactor.sleep(for: .milliseconds(10)) }
        if let last, .now < last.madeAt + Self.freshness { return last.text }
        isMaking = true
        defer { isMaking = false }
        let text = await makeText()
        last = (text, .now)
        return text
    }

    /// Reads a request's head; `nil` when it does not come whole.
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

    /// Reads what there is, at least a byte; `nil` at the end of the stream, at the deadline and when cancelled.
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

    /// Writes all of it; `false` at the deadline and when cancelled.
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
    /// What it listens on.
    private enum Door {
        case loopback(Listener)
        case local(LocalListener)

        /// Begins to listen. Everybody on the host may ask, as everybody may read the file.
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
