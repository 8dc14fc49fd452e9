import ArgumentParser
import CommandProgram
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
    static let signals = CommandProgram.blocked([.terminate, .interrupt, .hangup])

    /// The signals that the daemon receives: all of them, so that one without a meaning does not end it.
    static let daemonSignals = CommandProgram.blocked(Signal.allCases)

    /// The service manager that started the daemon and expects notifications. Looking it up changes the environment, so it
    /// happens before the program has a second thread.
    static let serviceManager = CommandProgram.announcedServiceManager()

    /// Runs the command line.
    static func main() {
        // Other commands end by the default action of signals.
        CommandProgram.main(Pushspool.self) { command in
            if hearsSignals(command) { _ = signals }
            guard command is Run else { return }
            _ = daemonSignals
            refuseWithoutDescriptors()
            _ = serviceManager
            CommandProgram.needed { () throws(SystemError) in try TaskThread.start() }
        }
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
            Retry.self, Pause.self, Resume.self, Stop.self, Channels.self, SendTest.self,
            Apps.self, PrintSchema.self,
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
    /// Returns an app with its credentials, and the daemon's configuration.
    ///
    /// - Throws: `ExitCode`, after reporting the faults.
    func app(_ name: String) throws -> (app: ConfiguredApp, daemon: DaemonConfiguration) {
        let set = load()
        if let app = set.apps[name] { return (app, set.daemon) }
        FindingList(set).note()
        if !set.isDaemonBroken, !set.brokenApps.contains(name) {
            let names = set.apps.keys.sorted().prefix(20).joined(separator: ", ")
            let hint = names.isEmpty ? "add it: pushspool app add \(ShellWord.spelled(name))" : "configured: \(names)"
            Talk.complain("no app is named \(name)", hint: hint)
        }
        throw ExitCode.badConfiguration
    }

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
