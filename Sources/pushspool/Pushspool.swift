import ArgumentParser
import LinuxIO

/// The program: drop a file, push a notification.
struct Pushspool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pushspool",
        abstract: "Send push notifications that other programs drop as files.",
        discussion: """
            Jobs are YAML or JSON files in <spool>/<app>/new/. The daemon (`run`) sends them over persistent connections, \
            moves each to done/ or failed/, and writes what came back to feedback/.

            Try it without Apple: pushspool demo
            """,
        subcommands: [Run.self, Submit.self, Check.self, Simulate.self, Demo.self])

    /// Parses the arguments and runs the command in a task, which ends the process; the main thread only waits.
    ///
    /// A command that hears signals has them blocked here, before any other thread is there that could die of them. Left
    /// to the runtime, the main thread would unblock them all again (`dispatch_main` waits in sigsuspend(2)).
    static func start() -> Never {
        do {
            if try parseAsRoot() is any SignalHearing { _ = try BlockedSignals([.terminate, .interrupt, .hangup]) }
            Task { await perform() }
            MainThread.park()
        } catch {
            exit(withError: error)
        }
    }

    private static func perform() async -> Never {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            exit()
        } catch {
            exit(withError: error)
        }
    }
}

/// A command that ends in good order when a signal asks for it.
protocol SignalHearing: AsyncParsableCommand {}

/// Where the daemon's configuration is.
struct ConfigurationOption: ParsableArguments {
    @Option(name: .shortAndLong, help: ArgumentHelp("The daemon's configuration file.", valueName: "file"))
    var config = "/etc/pushspool/pushspool.yaml"
}

extension ExitCode {
    /// The input is at fault (EX_DATAERR).
    static let badInput = ExitCode(65)
    /// It may work later (EX_TEMPFAIL).
    static let tryAgain = ExitCode(75)
    /// The configuration is at fault (EX_CONFIG).
    static let badConfiguration = ExitCode(78)
}
