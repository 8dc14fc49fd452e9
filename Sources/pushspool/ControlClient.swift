import Document
import JSON
import LinuxIO
import Logging
import PushDaemon
import SpoolModel
import SpoolStore

/// Gives commands to the daemon over its control socket.
final class ControlClient {
    private let connection: LocalConnection
    private var lines = ControlLines()
    private var parser = JSON.Parser()

    /// How long an answer may take: the daemon waits a while for what is on connections.
    private static let limit = Duration.seconds(120)

    /// Connects to the daemon of a configuration.
    ///
    /// - Throws: `SystemError`: ENOENT or ECONNREFUSED when there is none, or it has no socket there.
    init(_ configuration: DaemonConfiguration) throws(SystemError) {
        let node = configuration.node ?? Host.name
        connection = try LocalConnection(DaemonConfiguration.controlName(of: node), in: configuration.controlFolder)
    }

    /// The daemon's process.
    var process: Int32? { connection.peer?.processID }

    /// Gives a command, and returns the answer; `nil` if the daemon ended before.
    ///
    /// - Throws: `SystemError`: the connection is broken.
    func carryOut(_ request: ControlRequest) throws(SystemError) -> ControlAnswer? {
        try connection.write(request.line)
        return try nextAnswer()
    }

    /// Waits for another answer; `nil` if the daemon ended before.
    ///
    /// - Throws: `SystemError`: the connection is broken.
    func nextAnswer() throws(SystemError) -> ControlAnswer? {
        while true {
            if let line = lines.next() {
                if let root = try? parser.parse(line).root, let answer = ControlAnswer(root) { return answer }
                return ControlAnswer(
                    .refused, "the answer is not of this version", hint: "use the daemon's own pushspool")
            }
            guard !lines.isTooLong else { return nil }
            let piece = try connection.read(within: Self.limit)
            guard !piece.isEmpty else { return nil }
            lines.append(piece[...])
        }
    }
}

/// Who carries out commands: the daemon, or, where none runs, this program with the daemon's lock.
enum Executor {
    case daemon(ControlClient)
    case offline(OfflineDesk)

    /// Finds the daemon, or takes its lock.
    ///
    /// - Throws: `SystemError`, `SpoolFault`: neither can be had.
    static func find(_ configuration: DaemonConfiguration) throws -> Executor {
        do throws(SystemError) {
            return .daemon(try ControlClient(configuration))
        } catch {
            guard error.isNotFound || error.isConnectionRefused else { throw error }
        }
        let logger = Logger(label: "pushspool") { _ in LineLogHandler(level: .warning, format: .text) }
        return .offline(try OfflineDesk(configuration, logger: logger))
    }

    /// Carries out a command; `nil` if the daemon ended before it answered.
    ///
    /// - Throws: `SystemError`: the daemon does not answer.
    func carryOut(_ request: ControlRequest) throws(SystemError) -> ControlAnswer? {
        switch self {
        case .daemon(let client): try client.carryOut(request)
        case .offline(let desk): desk.carryOut(request)
        }
    }

    /// Ends what was begun.
    ///
    /// - Throws: `JournalFault`: what was recorded may be lost.
    func close() throws {
        switch self {
        case .daemon: break
        case .offline(let desk): try desk.close()
        }
    }
}
