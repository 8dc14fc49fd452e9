import ArgumentParser
import LinuxIO

/// Where the program begins: blocks signals while there is no other thread, since one that does not block a signal dies
/// of it, and all with it.
@main
enum Beginning {
    static func main() {
        // A command line that cannot be read is complained about below.
        if let command = try? Pushspool.parseAsRoot() as? any SignalServing { type(of: command).blockSignals() }
        Task.detached {
            await Pushspool.main(nil)
            Pushspool.exit()
        }
        MainThread.park()
    }
}

/// The program: drop a file, push a notification.
struct Pushspool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pushspool",
        abstract: "Send push notifications that other programs drop as files.",
        discussion: """
            Jobs are YAML or JSON files in <spool>/<app>/new/. The daemon (`run`) sends them over persistent connections,
            moves each to done/ or failed/, and writes what came back to feedback/.

            Try it without Apple: pushspool demo
            """,
        subcommands: [Run.self, Submit.self, Check.self, Simulate.self, Demo.self])
}

/// A command that serves signals itself instead of dying of them.
protocol SignalServing {
    /// The signals it serves.
    static var signals: [Signal] { get }
}

extension SignalServing {
    /// Blocks the signals in the calling thread and those that it starts.
    fileprivate static func blockSignals() {
        do {
            _ = try BlockedSignals(signals)
        } catch {
            Talk.complain("\(error)", hint: nil)
        }
    }
}

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
