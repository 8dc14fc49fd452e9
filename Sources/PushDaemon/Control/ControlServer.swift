import Document
import JSON
import LinuxIO
import Logging
import SpoolModel

/// Takes operators' commands over a Unix domain socket, a line each, and hands them to the daemon.
///
/// Lives on the reactor. Whoever may write to the socket may give any command; what is asked for is logged with who asked.
actor ControlServer {
    private nonisolated let reactor: Reactor
    private let daemon: Daemon
    private let logger: Logger
    private var listener: LocalListener?
    private var connectionCount = 0
    /// Connections that are to end with the process: that is how its end is seen.
    private var parting: [StreamSocket] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// How many connections there may be.
    private static let connectionLimit = 16
    /// How long one may be quiet.
    private static let idleLimit = Duration.seconds(60)
    /// How long an answer may wait to be read.
    private static let answerLimit = Duration.seconds(10)
    /// How often it is told how far a stop is.
    private static let progressPause = Duration.seconds(1)

    init(_ daemon: Daemon, on reactor: Reactor, _ logger: Logger) {
        (self.daemon, self.reactor, self.logger) = (daemon, reactor, logger)
    }

    /// Serves until the task is cancelled.
    ///
    /// - Throws: `CancellationError`; `SystemError`: the socket cannot be used any more.
    func run(_ socket: LocalSocket) async throws {
        listener = try LocalListener(socket, on: reactor)
        defer { listener = nil }
        try await withThrowingDiscardingTaskGroup { group in
            while true {
                guard let connection = try await nextConnection() else { continue }
                connectionCount += 1
                group.addTask { await self.attend(connection) }
            }
        }
    }

    /// Waits for a connection, and before that until there may be another: one more than are served is told that it is too
    /// many, and the others wait in the kernel. `nil` is no reason to stop.
    private func nextConnection() async throws -> sending StreamSocket? {
        guard connectionCount <= Self.connectionLimit else {
            let found = await listener?.waiter.wait()
            if found?.contains(.cancelled) == true { throw CancellationError() }
            return nil
        }
        do {
            return try await listener?.accept()
        } catch let error as SystemError where error.isTransient {
            logger.warning("control connections have to wait", metadata: [LogKey.error: "\(error)"])
            try await reactor.sleep(for: .milliseconds(500))
            return nil
        }
    }

    /// Holds one connection from its first byte to its last. What breaks it breaks nothing else.
    private func attend(_ socket: sending StreamSocket) async {
        defer {
            connectionCount -= 1
            listener?.waiter.wake()
        }
        do {
            try await converse(over: socket)
        } catch {
            logger.debug("control connection broken", metadata: [LogKey.error: "\(error)"])
        }
    }

    private func converse(over socket: StreamSocket) async throws {
        guard connectionCount <= Self.connectionLimit, let peer = socket.peerProcess else {
            let hint = "ask again when others have ended"
            return try await write(ControlAnswer(.refused, "too many control connections", hint: hint), to: socket)
        }
        var lines = ControlLines()
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            while let line = lines.next() {
                guard try await take(line, from: peer, over: socket) else { return }
            }
            guard !lines.isTooLong else {
                let text = "the line is longer than \(ControlRequest.lineLimit) bytes"
                return try await write(ControlAnswer(.refused, text), to: socket)
            }
            switch try socket.read(into: &buffer) {
            case .bytes(let count): lines.append(buffer[..<count])
            case .closed: return
            case .wouldBlock:
                let found = await socket.waiter.wait(for: .readable, until: .now + Self.idleLimit)
                guard found.isDisjoint(with: [.cancelled, .timedOut]) else { return }
            }
        }
    }

    /// Carries out a line; whether another may follow.
    private func take(_ line: [UInt8], from peer: PeerProcess, over socket: StreamSocket) async throws -> Bool {
        let request: ControlRequest
        do throws(ControlFault) {
            request = try Self.request(in: line)
        } catch {
            try await write(ControlAnswer(error), to: socket)
            return true
        }
        try await write(await daemon.carryOut(request, for: peer), to: socket)
        guard request.command == .stop else { return true }
        try await followStop(over: socket)
        return false
    }

    private static func request(in line: [UInt8]) throws(ControlFault) -> ControlRequest {
        var parser = JSON.Parser(limits: DocumentLimits(byteCount: ControlRequest.lineLimit, depth: 8))
        let tape: Tape
        do throws(Diagnostic) {
            tape = try parser.parse(line)
        } catch {
            throw ControlFault("the line is no JSON: \(error.message)", hint: error.hint)
        }
        return try ControlRequest(tape.root)
    }

    /// Tells how far a stop is, until the process ends.
    private func followStop(over socket: StreamSocket) async throws {
        parting.append(socket)
        while true {
            let found = await socket.waiter.wait(until: .now + Self.progressPause)
            guard found.isDisjoint(with: [.cancelled, .hangup]) else { return }
            try await write(await daemon.stopProgress, to: socket)
        }
    }

    private func write(_ answer: ControlAnswer, to socket: StreamSocket) async throws {
        let bytes = answer.line
        let deadline = ContinuousClock.now + Self.answerLimit
        var offset = 0
        while offset < bytes.count {
            switch try socket.write(bytes.span.extracting(offset...)) {
            case .bytes(let count): offset += count
            case .wouldBlock:
                let found = await socket.waiter.wait(for: .writable, until: deadline)
                guard found.isDisjoint(with: [.cancelled, .timedOut]) else {
                    throw SystemError.timedOut("send", "control socket")
                }
            }
        }
    }
}
