package import LinuxIO
package import Logging

/// Serves metrics and probes (`ScrapeRequest.Page`): one request per connection, a few connections at a time, each for a
/// few seconds.
///
/// An idle listener costs no time. A page is made on request and cached for a second, regardless of the number of clients.
package actor MetricsListener {
    /// The time limit for receiving a request, and then for sending the response.
    private static let patience = Duration.seconds(5)
    /// How long to wait for the client to close the connection, and how many bytes to discard meanwhile.
    private static let farewell = Duration.seconds(1)
    private static let farewellByteLimit = 1 << 16
    /// How long a page stays valid. Making one takes time from the thread that does the work.
    private static let freshness = Duration.seconds(1)

    private nonisolated let reactor: Reactor
    private let place: MetricsPlace
    private let logger: Logger
    private let make: @Sendable (ScrapeRequest.Page) async -> ScrapeRequest.Content
    private var roster: ConnectionRoster?
    private var last: [ScrapeRequest.Page: (content: ScrapeRequest.Content, madeAt: ContinuousClock.Instant)] = [:]
    /// The page that is being made; its end is broadcast.
    private var madeNow: ScrapeRequest.Page?
    private let making: Condition

    /// Creates a listener that is idle until `serve` or `run`.
    package init(
        at place: MetricsPlace, on reactor: Reactor, logger: Logger,
        make: @escaping @Sendable (ScrapeRequest.Page) async -> ScrapeRequest.Content
    ) {
        (self.place, self.reactor, self.logger) = (place, reactor, logger)
        self.make = make
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
        let roster = ConnectionRoster(try listen(), limit: 7)
        self.roster = roster
        defer { self.roster = nil }
        logger.info("listening for metrics requests", metadata: [LogKey.path: "\(place)"])
        try await withThrowingDiscardingTaskGroup { group in
            while true {
                guard let socket = try await roster.accept(complain: complain) else { continue }
                let number = roster.enter()
                group.addTask { await self.attend(socket, number) }
            }
        }
    }

    /// Starts listening. All users of the host may connect, as all may read the metrics file.
    private func listen() throws(SystemError) -> ListeningSocket {
        switch place {
        case .address(let address): try Listener(on: address, reactor: reactor)
        case .local(let path): try LocalListener(at: path, mode: 0o666, reactor: reactor)
        }
    }

    private func complain(_ error: SystemError) {
        logger.warning("metrics connection cannot be accepted; retrying", metadata: [LogKey.error: "\(error)"])
    }

    private func attend(_ socket: sending StreamSocket, _ number: Int) async {
        roster?.noteWaiting(number, socket.waiter)
        do {
            try await answer(over: socket, number)
        } catch {
            logger.debug("metrics connection failed", metadata: [LogKey.error: "\(error)"])
        }
        roster?.leave(number)
    }

    private func answer(over socket: StreamSocket, _ number: Int) async throws {
        guard let answer = try await request(over: socket, number, until: .now + Self.patience) else { return }
        roster?.noteRequest(number)
        let response =
            switch answer {
            case .success(let page): ScrapeRequest.response(page, await fresh(page))
            case .failure(let fault): ScrapeRequest.response(fault)
            }
        guard try await socket.writeAll(response, until: .now + Self.patience) else { return }
        socket.shutdownWrite()
        // Closing a socket with unread bytes resets the connection, and the client could lose the response.
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let deadline = ContinuousClock.now + Self.farewell
        var count = 0
        while count < Self.farewellByteLimit, let part = try await read(into: &buffer, from: socket, until: deadline) {
            count += part
        }
    }

    /// Returns a page no older than `freshness`. Requests that arrive while one is being made wait for it.
    private func fresh(_ page: ScrapeRequest.Page) async -> ScrapeRequest.Content {
        _ = await making.wait { madeNow == nil }
        if let last = last[page], .now < last.madeAt + Self.freshness { return last.content }
        madeNow = page
        defer {
            madeNow = nil
            making.broadcast()
        }
        let content = await make(page)
        last[page] = (content, .now)
        return content
    }

    /// Reads the head of a request; `nil` if it does not arrive completely, or another connection needs its place.
    private func request(
        over socket: StreamSocket, _ number: Int, until deadline: ContinuousClock.Instant
    ) async throws -> ScrapeRequest.Answer? {
        var request = ScrapeRequest()
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            switch try socket.read(into: &buffer) {
            case .bytes(let count): if let answer = request.receive(buffer[..<count]) { return answer }
            case .closed: return nil
            case .wouldBlock:
                guard roster?.mustLeave(number) == false else { return nil }
                let found = await socket.waiter.wait(for: .readable, until: deadline)
                if !found.isDisjoint(with: [.cancelled, .timedOut]) { return nil }
            }
        }
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
}
