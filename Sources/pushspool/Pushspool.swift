import ArgumentParser
import Configuration
import Document
import LinuxIO
import PushDaemon
import ServiceProcess
import SpoolInspection
import SpoolModel

/// The entry point.
@main
enum Program {
    /// The signals that end a command cleanly, blocked before the program has a second thread; see `BlockedSignals`.
    static let signals = blocked([.terminate, .interrupt, .hangup])

    /// The signals that the daemon receives: all of them, so that one without a meaning does not end it.
    static let daemonSignals = blocked(Signal.allCases)

    /// The service manager that started the daemon and expects notifications. Looking it up changes the environment, so it
    /// happens before the program has a second thread.
    static let serviceManager = ProgramStart.announcedServiceManager()

    /// Runs the command line. An asynchronous `main` would be too late to block signals, since threads exist by then.
    static func main() {
        ProgramStart.needed { () throws(SystemError) in try StandardStream.openClosed() }
        refuseMisspelling()
        // Other commands end by the default action of signals. Errors in the command line are reported below.
        if let command = try? Pushspool.parseAsRoot() {
            if hearsSignals(command) { _ = signals }
            if command is Run {
                _ = daemonSignals
                refuseWithoutDescriptors()
                _ = serviceManager
                ProgramStart.needed { () throws(SystemError) in try TaskThread.start() }
            }
        }
        Task.detached {
            await carryOut()
            Host.leave(with: StandardStream.hasLostOutput ? ExitCode.badInput.rawValue : 0)
        }
        Host.park()
    }

    /// Runs the command that the command line names, and ends the program if that fails.
    private static func carryOut() async {
        do {
            var command = try Pushspool.parseAsRoot()
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
        } catch {
            let message = Pushspool.message(for: error)
            guard Pushspool.exitCode(for: error) == .validationFailure, !message.isEmpty else {
                Pushspool.exit(withError: error)
            }
            Talk.complain(ofUsage: message, words: ["pushspool"] + namedCommand.words)
            Host.leave(with: ExitCode.validationFailure.rawValue)
        }
    }

    /// The command that the command line names, by its words, the commands below it, and the words behind it.
    private static var namedCommand: (words: [String], below: [any ParsableCommand.Type], rest: ArraySlice<String>) {
        var (named, commands) = ([String](), Pushspool.configuration.subcommands)
        var words = CommandLine.arguments.dropFirst()
        while let word = words.first, let command = commands.first(where: { $0._commandName == word }) {
            commands = command.configuration.subcommands
            named.append(word)
            words = words.dropFirst()
        }
        return (named, commands, words)
    }

    /// Refuses an unknown command, or one below a command, if a known one has a similar name.
    private static func refuseMisspelling() {
        let (_, commands, words) = namedCommand
        guard let word = words.first, !word.hasPrefix("-"), word != "help", !commands.isEmpty,
            let meant = Nearest.word(to: word, among: commands.map { $0._commandName } + ["help"])
        else { return }
        Talk.complain("unknown command \(Diagnostic.quoted(word))", hint: "did you mean `\(meant)`?")
        Host.leave(with: ExitCode.validationFailure.rawValue)
    }

    /// Whether a command other than the daemon ends cleanly on a signal.
    private static func hearsSignals(_ command: any ParsableCommand) -> Bool {
        command is Simulate || (command as? Status)?.watch == true
    }

    /// Refuses to run the daemon if the limit of open files is too low for any configuration, before a thread needs one.
    private static func refuseWithoutDescriptors() {
        guard let fault = Daemon.limitFault() else { return }
        Talk.complain(fault.message, hint: fault.hint)
        Host.leave(with: ExitCode.badConfiguration.rawValue)
    }

    private static func blocked(_ signals: [Signal]) -> BlockedSignals {
        ProgramStart.needed { () throws(SystemError) in try BlockedSignals(signals) }
    }
}

/// The program: drop a file, push a notification.
struct Pushspool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pushspool",
        abstract: "Send push notifications that other programs drop as files.",
        discussion: """
            Jobs are YAML or JSON files in <spool>/<app>/new/. The daemon (`run`) sends them over persistent connections, \
            moves each to done/ or failed/, and writes the outcomes to feedback/.

            Try it without Apple: pushspool demo
            """,
        version: Version.current,
        subcommands: [
            Run.self, Submit.self, List.self, Check.self, Doctor.self, ShowJournal.self, Status.self, Simulate.self,
            Demo.self, Feedback.self, Show.self, MakeReport.self, Hold.self, Release.self, Cancel.self, Expire.self,
            Retry.self, Pause.self, Resume.self, Stop.self, Channels.self,
        ])
}

/// The option for the daemon's configuration file.
struct ConfigurationOption: ParsableArguments {
    /// The default file: the one in PUSHSPOOL_CONFIG, or else the usual path.
    static let standard = EnvironmentVariable.value("PUSHSPOOL_CONFIG").flatMap { $0.isEmpty ? nil : $0 } ?? usual
    private static let usual = "/etc/pushspool/pushspool.yaml"

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The daemon's configuration file.", valueName: "file"),
        completion: .file())
    var config = ConfigurationOption.standard

    /// The option as repeated in suggested commands, with a leading space; empty for the default file.
    var repeated: String { config == Self.standard ? "" : " --config \(ShellWord.spelled(config))" }
}

extension ConfigurationLoader {
    /// Returns the daemon's configuration without the apps', which producers may not read.
    ///
    /// - Throws: `ExitCode`, after reporting the faults.
    func daemon() throws -> DaemonConfiguration {
        let set = loadDaemon()
        guard !set.isDaemonBroken else {
            FindingList(set).note()
            throw ExitCode.badConfiguration
        }
        return set.daemon
    }

    /// Returns the daemon's configuration for commands that need only the places of the spool and the control socket.
    /// Other faults are reported as warnings: a running daemon has read the file before they were made.
    ///
    /// - Returns: The configuration, and whether it has no faults.
    /// - Throws: `ExitCode`, after reporting the faults.
    func places() throws -> (daemon: DaemonConfiguration, isGood: Bool) {
        let set = loadDaemon()
        guard set.isDaemonBroken else { return (set.daemon, true) }
        guard set.arePlacesKnown else {
            FindingList(set).note()
            throw ExitCode.badConfiguration
        }
        FindingList(set).warn()
        return (set.daemon, false)
    }
}

extension ExitCode {
    /// The input is faulty (EX_DATAERR).
    static let badInput = ExitCode(65)
    /// A later attempt may succeed (EX_TEMPFAIL).
    static let tryAgain = ExitCode(75)
    /// The configuration is faulty (EX_CONFIG).
    static let badConfiguration = ExitCode(78)
}
