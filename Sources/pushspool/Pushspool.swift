import ArgumentParser
import Document
import LinuxIO
import PushDaemon
import SpoolModel

/// The entry point.
@main
enum Program {
    /// The signals that end a command in good order, blocked before the program has a second thread; see `BlockedSignals`.
    static let signals = blocked([.terminate, .interrupt, .hangup])

    /// Those that the daemon hears: one that means nothing to it must not end it either.
    static let daemonSignals = blocked(Signal.allCases)

    /// The service manager that started the daemon and wants to hear of it. Asked for before the program has a second thread,
    /// because that changes the environment.
    static let serviceManager = announcedServiceManager()

    /// Runs the command on the line. An asynchronous `main` would come too late for the signals: it has threads already.
    static func main() {
        refuseMisspelling()
        // The other commands are left to die of signals; a line that cannot be read is complained about below.
        if let command = try? Pushspool.parseAsRoot() {
            if hearsSignals(command) { _ = signals }
            if command is Run {
                _ = daemonSignals
                refuseWithoutDescriptors()
                _ = serviceManager
            }
        }
        Task.detached {
            await Pushspool.main()
            Host.leave(with: StandardStream.hasLostOutput ? ExitCode.badInput.rawValue : 0)
        }
        Host.park()
    }

    /// Refuses a command that there is not, if there is one that is called much the same.
    private static func refuseMisspelling() {
        guard CommandLine.arguments.count > 1 else { return }
        let (word, known) = (CommandLine.arguments[1], Pushspool.configuration.subcommands.map { $0._commandName })
        guard !word.hasPrefix("-"), !(known + ["help"]).contains(word),
            let meant = Nearest.word(to: word, among: known + ["help"])
        else { return }
        Talk.complain("there is no command \(Diagnostic.quoted(word))", hint: "did you mean `\(meant)`?")
        Host.leave(with: ExitCode.validationFailure.rawValue)
    }

    /// Whether a command besides the daemon ends in good order when a signal says so.
    private static func hearsSignals(_ command: any ParsableCommand) -> Bool {
        command is Simulate || (command as? Status)?.watch == true
    }

    /// Refuses to run the daemon where no configuration could be served, before the first task: libdispatch ends a process that
    /// has no descriptor for it, and says nothing.
    private static func refuseWithoutDescriptors() {
        guard let fault = Daemon.limitFault() else { return }
        Talk.complain(fault.message, hint: fault.hint)
        Host.leave(with: ExitCode.badConfiguration.rawValue)
    }

    private static func blocked(_ signals: [Signal]) -> BlockedSignals {
        do throws(SystemError) {
            return try BlockedSignals(signals)
        } catch {
            Talk.complain("\(error)", hint: nil)
            Host.leave(with: ExitCode.tryAgain.rawValue)
        }
    }

    private static func announcedServiceManager() -> ServiceManager? {
        do throws(SystemError) {
            return try ServiceManager.takenFromEnvironment()
        } catch {
            Talk.complain(
                "the service manager cannot be told anything: \(error)",
                hint: "NOTIFY_SOCKET is to be the path of a Unix domain socket, or a name behind an @")
            return nil
        }
    }
}

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
        version: Version.current,
        subcommands: [
            Run.self, Submit.self, List.self, Check.self, Doctor.self, ShowJournal.self, Status.self, Simulate.self,
            Demo.self, Feedback.self, Show.self, MakeReport.self, Hold.self, Release.self, Cancel.self, Expire.self,
            Retry.self, Pause.self, Resume.self, Stop.self,
        ])
}

/// Where the daemon's configuration is.
struct ConfigurationOption: ParsableArguments {
    /// The file that is read unless another is named: that of PUSHSPOOL_CONFIG, or the usual one.
    static let standard = EnvironmentVariable.value("PUSHSPOOL_CONFIG").flatMap { $0.isEmpty ? nil : $0 } ?? usual
    private static let usual = "/etc/pushspool/pushspool.yaml"

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The daemon's configuration file.", valueName: "file"),
        completion: .file())
    var config = ConfigurationOption.standard

    /// What a command that is proposed must say of it, a space in front: nothing, if it is the standard file.
    var repeated: String { config == Self.standard ? "" : " --config \(ShellWord.spelled(config))" }
}

extension ConfigurationLoader {
    /// The daemon's configuration, without the apps': producers may not read those.
    ///
    /// - Throws: `ExitCode`, after it was said what is wrong with it.
    func daemon() throws -> DaemonConfiguration {
        let set = loadDaemon()
        guard !set.isDaemonBroken else {
            FindingList(set).note()
            throw ExitCode.badConfiguration
        }
        return set.daemon
    }
}

extension ConfigurationLoader {
    /// The daemon's configuration for commands that need no more of it than where the spool and the control socket are: other
    /// faults are only warned of. The daemon that runs has read the file before they were made.
    ///
    /// - Returns: The configuration, and whether all of it is good.
    /// - Throws: `ExitCode`, after it was said what is wrong with it.
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
    /// The input is at fault (EX_DATAERR).
    static let badInput = ExitCode(65)
    /// It may work later (EX_TEMPFAIL).
    static let tryAgain = ExitCode(75)
    /// The configuration is at fault (EX_CONFIG).
    static let badConfiguration = ExitCode(78)
}
