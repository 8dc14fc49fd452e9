import Document
import JSON
import JobOperations
import LinuxIO
import Logging
import ServiceProcess
import SpoolModel

/// Receives operators' commands over a Unix domain socket, one per line, and passes them to the daemon.
///
/// Runs on the reactor. Everyone with write access to the socket may give any command. Each command is logged with the
/// user who gave it.
actor ControlServer {
    private nonisolated let reactor: Reactor
    private let daemon: Daemon
    private let logger: Logger
    private var roster: ConnectionRoster?
    /// Connections that stay open until the process ends, so that clients can detect its end.
    private var parting: [StreamSocket] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// How long a connection may be idle: how long its next request may take as a whole.
    private static let idleLimit = Duration.seconds(60)
    /// How long the client may take to read an answer.
    private static let answerLimit = Duration.seconds(10)
    /// How often the progress of a stop is reported.
    private static let progressPause = Duration.seconds(1)

    init(_ daemon: Daemon, on reactor: Reactor, _ logger: Logger) {
        (self.daemon, self.reactor, self.logger) = (daemon, reactor, logger)
    }

    /// Serves until the task is cancelled.
    ///
    /// - Throws: `CancellationError`; `SystemError`: the socket is no longer usable.
    func run(_ socket: LocalSocket) async throws {
        let roster = ConnectionRoster(try LocalListener(socket, on: reactor), limit: 16)
        self.roster = roster
        defer { self.roster = nil }
        try await withThrowingDiscardingTaskGroup { group in
            while true {
                guard let connection = try await roster.accept(complain: complain) else { continue }
                let number = roster.enter()
                group.addTask { await self.attend(connection, number) }
            }
        }
    }

    private func complain(_ error: SystemError) {
        logger.warning("control connection cannot be accepted; retrying", metadata: [LogKey.error: "\(error)"])
    }

    /// Serves one connection until it ends. Its errors affect nothing else.
    private func attend(_ socket: sending StreamSocket, _ number: Int) async {
        defer { roster?.leave(number) }
        do {
            try await converse(over: socket, number)
        } catch {
            logger.debug("control connection failed", metadata: [LogKey.error: "\(error)"])
        }
    }

    private func converse(over socket: StreamSocket, _ number: Int) async throws {
        guard let peer = socket.peerProcess else { return }
        var lines = ControlLines()
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        var deadline = ContinuousClock.now + Self.idleLimit
        roster?.noteWaiting(number, socket.waiter)
        while true {
            while let line = lines.next() {
                roster?.noteRequest(number)
                guard roster?.isOverrun == false else {
                    let text = "too many commands are being carried out"
                    return try await write(ControlAnswer(.refused, text, hint: "try again later"), to: socket)
                }
                var group = [line]
                while group.count < ControlRequest.groupLimit, let next = lines.next() { group.append(next) }
                guard try await execute(group, from: peer, over: socket) else { return }
                roster?.noteWaiting(number, socket.waiter)
                deadline = .now + Self.idleLimit
            }
            guard !lines.isTooLong else {
                let text = "the request is longer than \(ControlRequest.lineLimit) bytes"
                return try await write(ControlAnswer(.refused, text), to: socket)
            }
            switch try socket.read(into: &buffer) {
            case .bytes(let count): lines.append(buffer[..<count])
            case .closed: return
            case .wouldBlock:
                guard roster?.mustLeave(number) == false else { return }
                let found = await socket.waiter.wait(for: .readable, until: deadline)
                guard found.isDisjoint(with: [.cancelled, .timedOut]) else { return }
            }
        }
    }

    /// Executes lines, and returns whether others may follow. Jobs that end one after another share their syncs.
    private func execute(
        _ lines: [[UInt8]], from peer: PeerProcess, over socket: StreamSocket
    ) async throws -> Bool {
        var requests = lines.map { line in
            Result { () throws(ControlFault) in try Self.request(in: line) }
        }[...]
        while let first = requests.first {
            let count = max(1, requests.prefix(while: \.isOfEnd).count)
            let answers = await answers(to: requests.prefix(count), for: peer)
            for answer in answers { try await write(answer, to: socket) }
            requests.removeFirst(count)
            if case .success(let request) = first, request.command == .stop, answers.first?.isGood == true {
                try await followStop(over: socket)
                return false
            }
        }
        return true
    }

    /// Carries out requests at the same time. Returns the answers in their order.
    private func answers(
        to requests: ArraySlice<Result<ControlRequest, ControlFault>>, for peer: PeerProcess
    ) async -> [ControlAnswer] {
        await withTaskGroup { group in
            for (number, request) in requests.enumerated() {
                group.addTask { (number, await self.answer(to: request, for: peer)) }
            }
            var answers: [Int: ControlAnswer] = [:]
            for await (number, answer) in group { answers[number] = answer }
            return (0..<requests.count).compactMap { answers[$0] }
        }
    }

    private func answer(
        to request: Result<ControlRequest, ControlFault>, for peer: PeerProcess
    ) async -> ControlAnswer {
        switch request {
        case .success(let request): await daemon.answer(request, for: peer)
        case .failure(let fault): ControlAnswer(fault)
        }
    }

    /// Reads a request.
    static func request(in line: [UInt8]) throws(ControlFault) -> ControlRequest {
        var parser = JSON.Parser(limits: DocumentLimits(byteCount: ControlRequest.lineLimit, depth: 8))
        let tape: Tape
        do throws(Diagnostic) {
            tape = try parser.parse(line)
        } catch {
            throw ControlFault("the request is not valid JSON: \(error.message)", hint: error.hint)
        }
        return try ControlRequest(tape.root)
    }

    /// Reports the progress of a stop until the process ends.
    private func followStop(over socket: StreamSocket) async throws {
        parting.append(socket)
        while true {
            let found = await socket.waiter.wait(until: .now + Self.progressPause)
            guard found.isDisjoint(with: [.cancelled, .hangup]) else { return }
            try await write(await daemon.stopProgress, to: socket)
        }
    }

    private func write(_ answer: ControlAnswer, to socket: StreamSocket) async throws {
        guard try await socket.writeAll(answer.line, until: .now + Self.answerLimit) else {
            throw SystemError.timedOut("send", "control socket")
        }
    }
}

extension Result<ControlRequest, ControlFault> {
    fileprivate var isOfEnd: Bool {
        guard case .success(let request) = self else { return false }
        return request.command.isEnd
    }
}
