import ArgumentParser
import CommandProgram
import Doctor
import LinuxIO
import ServiceProcess
import SpoolInspection

/// The command `pushspool doctor`.
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Find out why nothing is sent, and print the remedy.",
        discussion: """
            Checks the configuration and credentials, the owners and modes of the spool, the connection to each gateway \
            (name, address, TLS, and whether the gateway accepts the app), the clock, the filesystem, the kernel's limits \
            and the daemon, and prints a line for each: fault, warn or ok, with a hint; faults first. You can use it while \
            the daemon runs: it takes no lock, sends no notification, and removes its test files, .doctor-<process>. \
            Run it as the daemon's user. Exits with 78 for a fault, 1 for a warning, and 0 otherwise.

            Example: pushspool doctor --config etc/pushspool.yaml weather
            """)

    @OptionGroup var options: ConfigurationOption

    @Option(help: ArgumentHelp("The time limit for the whole examination: 30 or 30s, 5m.", valueName: "duration"))
    var timeout = TimeLimit(seconds: 30)

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var input: NameInput

    @Argument(
        help: ArgumentHelp("Apps to examine; all apps by default; - reads names from standard input.", valueName: "app")
    )
    var apps: [String] = []

    func validate() throws {
        guard (1...3600).contains(timeout.seconds) else { throw ValidationError("--timeout takes 1 to 3600 seconds.") }
    }

    func run() async throws {
        let names = try input.all(of: apps)
        // Standard input may have contained no names.
        if names.isEmpty, !apps.isEmpty { return }
        let settings = Examination.Settings(path: options.config, apps: names, timeout: .seconds(timeout.seconds))
        let report = try await report(settings)
        report.say(asJSON: json)
        switch report.severity {
        case .fault: throw ExitCode.badConfiguration
        case .warn: throw ExitCode.failure
        case .ok: return
        }
    }

    private func report(_ settings: Examination.Settings) async throws -> DoctorReport {
        do {
            return try await Examination(settings).report()
        } catch let error as SystemError {
            Talk.complain("\(error)", hint: "raise the limits on open files and threads, and try again")
            throw ExitCode.tryAgain
        }
    }
}
