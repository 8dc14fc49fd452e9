import ArgumentParser
import CommandProgram
import Configuration
import LinuxIO
import Logging
import PushDaemon
import ServiceProcess
import SpoolInspection

/// The command `pushspool run`.
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the daemon.",
        discussion: """
            Takes jobs from <spool>/<app>/new/ to work/, sends them, and moves them to done/ or failed/; feedback lines \
            appear in feedback/. Logs to standard error. TERM and INT let active jobs finish; a second signal ends at \
            once. HUP reloads the configuration.

            Example: pushspool run --config etc/pushspool.yaml
            """)

    @OptionGroup var options: ConfigurationOption

    @Option(help: ArgumentHelp("How long a stop may wait for active jobs: 30 or 30s, 5m.", valueName: "duration"))
    var drain = TimeLimit(seconds: 30)

    func validate() throws {
        guard (0...86_400).contains(drain.seconds) else { throw ValidationError("--drain takes 0 to 86400 seconds.") }
    }

    func run() async throws {
        forbidDumps()
        Host.returnLargeBlocks()
        var settings = Daemon.Settings(
            path: options.config, drainLimit: .seconds(drain.seconds), signals: Program.daemonSignals,
            serviceManager: Program.serviceManager)
        settings.version = Version.current
        let daemon = try daemon(settings)
        do {
            try await daemon.run()
        } catch {
            // The error is already in the log.
            throw ExitCode.tryAgain
        }
    }

    /// Forbids core dumps. Must be called before any key is read.
    private func forbidDumps() {
        do throws(SystemError) {
            try MemoryDump.forbid()
        } catch {
            Talk.complain(
                "cannot disable core dumps, which contain keys: \(error)", hint: "check the sandbox that it runs in")
        }
    }

    private func daemon(_ settings: Daemon.Settings) throws -> Daemon {
        do throws(Daemon.StartFault) {
            return try Daemon(settings) { configuration in
                LineLogHandler.queued("pushspool", settings.logThreshold, format: configuration.logFormat)
            }
        } catch {
            switch error {
            case .configuration(let set): FindingList(set).note()
            case .spool(let message, let hint), .limit(let message, let hint): Talk.complain(message, hint: hint)
            case .shortage(let message, let hint):
                Talk.complain(message, hint: hint)
                throw ExitCode.tryAgain
            }
            throw ExitCode.badConfiguration
        }
    }
}
