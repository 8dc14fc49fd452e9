package import ArgumentParser
import Document
package import LinuxIO
import ServiceProcess

/// A program with a command line: how it starts and ends.
package enum CommandProgram {
    /// Runs the command line, and ends the process. An asynchronous `main` would be too late to block signals, since threads
    /// exist by then.
    ///
    /// - Parameters:
    ///   - program: The command of the program itself, with the others below it.
    ///   - prepare: Called with the named command before there is a second thread, unless the command line has a fault.
    package static func main(
        _ program: any ParsableCommand.Type, preparing prepare: (any ParsableCommand) -> Void
    ) -> Never {
        needed { () throws(SystemError) in
            try StandardStream.openClosed()
            try InitProcess.leaveWorkToChild()
        }
        refuseMisspelling(program)
        if let command = try? program.parseAsRoot() { prepare(command) }
        Task.detached {
            await carryOut(program)
            Host.leave(with: StandardStream.hasLostOutput ? ExitCode.badInput.rawValue : 0)
        }
        Host.park()
    }

    /// Returns what the program cannot do without, or ends it with the reason.
    package static func needed<Value>(_ make: () throws(SystemError) -> Value) -> Value {
        do throws(SystemError) {
            return try make()
        } catch {
            Talk.complain("\(error)", hint: nil)
            Host.leave(with: ExitCode.tryAgain.rawValue)
        }
    }

    /// Blocks signals, for a program that waits for them. Call it before there is a second thread.
    package static func blocked(_ signals: [Signal]) -> BlockedSignals {
        needed { () throws(SystemError) in try BlockedSignals(signals) }
    }

    /// Returns the service manager that started the program and expects notifications. Changes the environment: call it
    /// before there is a second thread.
    ///
    /// - Returns: `nil` if none did, or if its address cannot be used, which is reported.
    package static func announcedServiceManager() -> ServiceManager? {
        do throws(SystemError) {
            return try ServiceManager.takenFromEnvironment()
        } catch {
            Talk.complain(
                "cannot notify the service manager: \(error)",
                hint: "set NOTIFY_SOCKET to the path of a Unix domain socket, or to @ and an abstract name")
            return nil
        }
    }

    /// Runs the command that the command line names, and ends the program if that fails.
    private static func carryOut(_ program: any ParsableCommand.Type) async {
        do {
            var command = try program.parseAsRoot()
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
        } catch {
            let (code, text) = (program.exitCode(for: error), program.fullMessage(for: error))
            if code == .validationFailure {
                Talk.complain(ofUsage: program.message(for: error), words: namedCommand(of: program).words)
            } else if !text.isEmpty {
                if code.isSuccess { Talk.say(text) } else { Talk.note(text) }
            }
            guard code.isSuccess else { Host.leave(with: code.rawValue) }
        }
    }

    /// The command that the command line names, by its words, the commands below it, and the words behind it.
    private static func namedCommand(
        of program: any ParsableCommand.Type
    ) -> (words: [String], below: [any ParsableCommand.Type], rest: ArraySlice<String>) {
        var (named, commands) = ([program._commandName], program.configuration.subcommands)
        var words = CommandLine.arguments.dropFirst()
        while let word = words.first, let command = commands.first(where: { $0._commandName == word }) {
            commands = command.configuration.subcommands
            named.append(word)
            words = words.dropFirst()
        }
        return (named, commands, words)
    }

    /// Refuses an unknown command, or one below a command, if a known one has a similar name.
    private static func refuseMisspelling(_ program: any ParsableCommand.Type) {
        let (_, commands, words) = namedCommand(of: program)
        guard let word = words.first, !word.hasPrefix("-"), word != "help", !commands.isEmpty,
            let meant = Nearest.word(to: word, among: commands.map { $0._commandName } + ["help"])
        else { return }
        Talk.complain("unknown command \(Diagnostic.quoted(word))", hint: "did you mean `\(meant)`?")
        Host.leave(with: ExitCode.validationFailure.rawValue)
    }
}

extension ExitCode {
    /// The input is faulty, or the output incomplete (EX_DATAERR, sysexits.h).
    package static let badInput = ExitCode(65)
    /// A job is dropped, or may be, and how it ends is not known: do not drop it again (EX_UNAVAILABLE).
    package static let fateUnknown = ExitCode(69)
    /// A later attempt may succeed (EX_TEMPFAIL).
    package static let tryAgain = ExitCode(75)
    /// The configuration is faulty (EX_CONFIG).
    package static let badConfiguration = ExitCode(78)
}
