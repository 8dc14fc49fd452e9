import ArgumentParser
import CommandProgram
import Configuration
import JobOperations
import LinuxIO
import Logging
import PushDaemon
import ServiceProcess
import SpoolInspection
import SpoolModel
import SpoolStore

/// The error that the configuration is too faulty for this program to act without the daemon.
private struct FaultyConfiguration: Error {}

/// The executor of commands: the daemon, or this program with the daemon's lock if no daemon is running.
enum Executor {
    case daemon(ControlClient)
    case offline(StoppedApps)

    /// Executes commands, and prints a line for each.
    ///
    /// - Parameters:
    ///   - run: The commands.
    ///   - configuration: The configuration of the daemon.
    ///   - mayBeOffline: Whether this program may execute the commands without a daemon, which takes a configuration
    ///     without errors.
    /// - Throws: `ExitCode`: 1 if a command was refused or its job not found, 75 if neither the daemon nor this program
    ///   can execute it now, or the node that has the job does not answer, 78 if the configuration is too faulty to do
    ///   without the daemon.
    static func run(
        _ run: CommandRun, under configuration: DaemonConfiguration, mayBeOffline: Bool
    ) async throws {
        var run = run
        do {
            let executor = try find(configuration, mayBeOffline: mayBeOffline)
            for group in run.groups {
                let answers = try await executor.answers(to: group.compactMap(\.requests.first))
                for (step, answer) in zip(group, answers) { run.report(answer, of: step) }
                guard let step = group.last, var isGood = answers.last?.isGood, answers.count == group.count else {
                    throw DaemonGone()
                }
                for request in step.requests.dropFirst() where isGood {
                    guard let answer = try await executor.answers(to: [request]).first else { throw DaemonGone() }
                    run.report(answer, of: step)
                    isGood = answer.isGood
                }
            }
            try executor.close()
        } catch {
            run.printSummary()
            try complain(error, configuration)
        }
        run.printSummary()
        guard run.failures.isEmpty else { throw run.failures == [.unanswered] ? ExitCode.tryAgain : ExitCode.failure }
    }

    private static func complain(_ error: any Error, _ configuration: DaemonConfiguration) throws -> Never {
        switch error {
        case is FaultyConfiguration:
            Talk.complain(
                "no daemon is listening in \(configuration.control.folder), and the configuration has faults",
                hint: "fix the configuration, or start the daemon")
            throw ExitCode.badConfiguration
        case let error as SystemError where error.isPermission:
            Talk.complain("\(error)", hint: "run the command as the daemon's user or as a member of control.group")
        case let error as SystemError where error.isTimeOut:
            Talk.complain(
                "the daemon does not answer: \(error)",
                hint: "see its log, and pushspool status; the command may still take effect")
        case let fault as SpoolFault:
            let fault = fault.withProcess(in: configuration.spool)
            Talk.complain(
                "no daemon is listening in \(configuration.control.folder), and \(fault.message)",
                hint: "if the daemon is running, look in its log for the control socket; otherwise: \(fault.hint)")
        case is DaemonGone:
            Talk.complain(
                "the daemon ended before it answered", hint: "check its log for the command's effect, and retry")
        default:
            Talk.complain(
                "\(error)", hint: "check that the daemon is running, or that this user can write to the spool")
        }
        throw ExitCode.tryAgain
    }

    /// Connects to the daemon, or takes its lock.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the daemon.
    ///   - mayBeOffline: Whether the lock may be taken.
    /// - Returns: The executor.
    /// - Throws: `SystemError`, `SpoolFault`: neither the daemon nor the lock is available; `FaultyConfiguration`: no
    ///   daemon is running, and the lock may not be taken.
    private static func find(_ configuration: DaemonConfiguration, mayBeOffline: Bool) throws -> Executor {
        do throws(SystemError) {
            return .daemon(try ControlClient(configuration))
        } catch {
            guard error.isNotFound || error.isConnectionRefused else { throw error }
        }
        guard mayBeOffline else { throw FaultyConfiguration() }
        let logger = Logger(label: "pushspool") { _ in LineLogHandler(level: .warning, format: .text) }
        return .offline(try StoppedApps(configuration, logger: logger))
    }

    /// Executes commands, and returns the answers; fewer if the daemon ended before it answered.
    ///
    /// - Throws: `SystemError`: the daemon does not answer.
    private func answers(to requests: [ControlRequest]) async throws(SystemError) -> [ControlAnswer] {
        switch self {
        case .daemon(let client): return try client.answers(to: requests)
        case .offline(let apps):
            var answers: [ControlAnswer] = []
            for request in requests { answers.append(await apps.carryOut(request)) }
            return answers
        }
    }

    /// Ends the session.
    ///
    /// - Throws: `JournalFault`: recorded changes may be lost.
    private func close() throws {
        switch self {
        case .daemon: break
        case .offline(let apps): try apps.close()
        }
    }
}

/// The error that the connection ended without an answer.
private struct DaemonGone: Error {}
