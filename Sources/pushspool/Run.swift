import ArgumentParser
import LinuxIO
import Logging
import PushDaemon
import SpoolStore

/// `pushspool run`.
struct Run: SignalHearing {
    static let configuration = CommandConfiguration(
        abstract: "Run the daemon.",
        discussion: """
            Takes jobs from <spool>/<app>/new/ to work/, sends them, and moves them to done/ or failed/; feedback lines \
            appear in feedback/. Logs to standard error. TERM and INT let jobs under way finish, a second one does not \
            wait; HUP reads the configuration again.

            Example: pushspool run --config etc/pushspool.yaml
            """)

    @OptionGroup var options: ConfigurationOption

    @Option(help: ArgumentHelp("How many seconds a stop may wait for jobs under way.", valueName: "seconds"))
    var drain = 30

    func validate() throws {
        guard (0...86_400).contains(drain) else { throw ValidationError("--drain takes 0 to 86400 seconds.") }
    }

    func run() async throws {
        let signals = try BlockedSignals([.terminate, .interrupt, .hangup])
        let settings = Daemon.Settings(path: options.config, drainLimit: .seconds(drain), signals: signals)
        do {
            let daemon = try Daemon(settings) { configuration in
                let level = Logger.Level(rawValue: configuration.logLevel.rawValue) ?? .info
                return Logger(label: "pushspool") { _ in LineLogHandler(level: level, format: configuration.logFormat) }
            }
            await daemon.run()
        } catch let fault as Daemon.StartFault {
            switch fault {
            case .configuration(let set): FindingList(set).note()
            }
            throw ExitCode.badConfiguration
        } catch let fault as SpoolFault {
            Talk.complain(fault.message, hint: fault.hint)
            throw ExitCode.badConfiguration
        } catch let error as SystemError {
            Talk.complain("\(error)", hint: "check spool: and state: in \(options.config)")
            throw ExitCode.badConfiguration
        }
    }
}
