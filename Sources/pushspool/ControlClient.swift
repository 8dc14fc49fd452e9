import ArgumentParser
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

/// The configuration is too faulty to do what a daemon does.
private struct FaultyConfiguration: Error {}

/// Who carries out commands: the daemon, or, where none runs, this program with the daemon's lock.
enum Executor {
    case daemon(ControlClient)
    case offline(OfflineDesk)

    /// Carries out commands, and prints a line for each.
    ///
    /// - Parameters:
    ///   - steps: What is to be asked for, and what it is called; of several requests the next only if the one before was
    ///     good.
    ///   - configuration: Whose daemon carries it out.
    ///   - mayBeOffline: Whether this program may do it without a daemon: then all of the configuration counts.
    ///   - isJSON: Whether each answer is printed as it is, a JSON object a line.
    /// - Throws: `ExitCode`: 1 when something was refused or not found, 75 when nobody carries it out, 78 when it may not be done
    ///   without a daemon.
    static func carryOut(
        _ steps: [(about: String, requests: [ControlRequest])], under configuration: DaemonConfiguration,
        mayBeOffline: Bool, isJSON: Bool
    ) throws {
        var isGood = true
        do {
            let executor = try find(configuration, mayBeOffline: mayBeOffline)
            for step in steps {
                for request in step.requests {
                    guard let answer = try executor.carryOut(request) else { throw DaemonGone() }
                    if isJSON { Talk.say(answer.line) } else { answer.print(step.about) }
                    isGood = isGood && answer.isGood
                    if !answer.isGood { break }
                }
            }
            try executor.close()
        } catch {
            try complain(error, configuration)
        }
        guard isGood else { throw ExitCode.failure }
    }

    private static func complain(_ error: any Error, _ configuration: DaemonConfiguration) throws -> Never {
        switch error {
        case is FaultyConfiguration:
            Talk.complain(
                "no daemon answers in \(configuration.controlFolder), and without one the configuration must be good",
                hint: "mend it, or start the daemon")
            throw ExitCode.badConfiguration
        case let error as SystemError where error.isPermission:
            Talk.complain("\(error)", hint: "act as the daemon's user, or as one of the group in control.group")
        case let fault as SpoolFault:
            Talk.complain(
                "no daemon answers in \(configuration.controlFolder), and \(fault.message)",
                hint: "if one runs, see its log on why it has no control socket; else: \(fault.hint)")
        case is DaemonGone:
            Talk.complain("the daemon ended before it answered", hint: "ask again; what it did is in its log")
        default: Talk.complain("\(error)", hint: "see that the daemon runs, or that the spool can be used without")
        }
        throw ExitCode.tryAgain
    }

    /// Finds the daemon, or takes its lock.
    ///
    /// - Parameters:
    ///   - configuration: Where they are.
    ///   - mayBeOffline: Whether the lock may be taken.
    /// - Returns: Who carries out commands.
    /// - Throws: `SystemError`, `SpoolFault`: neither can be had; `FaultyConfiguration`: no daemon, and the lock may not be taken.
    private static func find(_ configuration: DaemonConfiguration, mayBeOffline: Bool) throws -> Executor {
        do throws(SystemError) {
            return .daemon(try ControlClient(configuration))
        } catch {
            guard error.isNotFound || error.isConnectionRefused else { throw error }
        }
        guard mayBeOffline else { throw FaultyConfiguration() }
        let logger = Logger(label: "pushspool") { _ in LineLogHandler(level: .warning, format: .text) }
        return .offline(try OfflineDesk(configuration, logger: logger))
    }

    /// Carries out a command; `nil` if the daemon ended before it answered.
    ///
    /// - Throws: `SystemError`: the daemon does not answer.
    private func carryOut(_ request: ControlRequest) throws(SystemError) -> ControlAnswer? {
        switch self {
        case .daemon(let client): try client.carryOut(request)
        case .offline(let desk): desk.carryOut(request)
        }
    }

    /// Ends what was begun.
    ///
    /// - Throws: `JournalFault`: what was recorded may be lost.
    private func close() throws {
        switch self {
        case .daemon: break
        case .offline(let desk): try desk.close()
        }
    }
}

/// The connection ended without an answer.
private struct DaemonGone: Error {}

extension ControlAnswer {
    /// Prints the answer about what was called `name`.
    fileprivate func print(_ name: String) {
        let subject = [app, job].compactMap(\.self).joined(separator: "/")
        let about = job == nil ? name : subject
        if isGood { Talk.say("\(about): \(text)") } else { Talk.complain("\(about): \(text)", hint: hint) }
    }
}
