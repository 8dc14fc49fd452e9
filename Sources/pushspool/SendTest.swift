import ArgumentParser
import CommandProgram
import Configuration
import Doctor
import Document
import LinuxIO
import ServiceProcess
import SpoolInspection
import SpoolModel

/// The command `pushspool test`.
struct SendTest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Send one notification now, and explain the gateway's answer.",
        discussion: """
            Sends an alert to one device token or FCM registration token with the app's credentials, without the spool, and \
            prints the answer: the id of the accepted notification, or the reason and the remedy. The daemon may run or \
            not. Run it as the daemon's user. Exits with 0 if the gateway accepted it, 65 if it refused the token or the \
            message, 75 if it takes it later or does not answer, and 78 if the app is at fault.

            Example: pushspool test weather 740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad
            """)

    @OptionGroup var options: ConfigurationOption

    @Option(help: ArgumentHelp("The text to show.", valueName: "text"))
    var alert = "Hello from pushspool"

    @Option(help: ArgumentHelp("How long to wait for the answer: 30 or 30s, 5m.", valueName: "duration"))
    var timeout = TimeLimit(seconds: 30)

    @Flag(help: "Print one JSON object.")
    var json = false

    @Argument(help: ArgumentHelp("The app.", valueName: "app"))
    var app: String

    @Argument(help: ArgumentHelp("The device token or registration token.", valueName: "token"))
    var token: String

    func validate() throws {
        guard (1...3600).contains(timeout.seconds) else { throw ValidationError("--timeout takes 1 to 3600 seconds.") }
    }

    func run() async throws {
        let (configured, daemon) = try ConfigurationLoader(path: options.config).app(app)
        do {
            let mark = PublishedApps.lists(in: daemon.spool).compactMap(\.mark).min()
            let trial = DeliveryTrial(of: configured, in: daemon, mark: mark)
            try report(try await trial.answer(to: alert, for: token, within: .seconds(timeout.seconds)))
        } catch let fault as DeliveryTrial.Refused {
            for fault in fault.diagnostics where fault.severity == .error {
                Talk.complain("\(app): \(fault.sentence)", hint: fault.hint)
            }
            throw ExitCode.badInput
        } catch let error as SystemError {
            Talk.complain("\(error)", hint: "raise the limits on open files and threads, and try again")
            throw ExitCode.tryAgain
        }
    }

    private func report(_ answer: TrialAnswer) throws {
        if json {
            Talk.say(answer.json(of: app))
        } else if answer.kind == .accepted {
            Talk.say("\(app): \(answer.line)")
        } else {
            Talk.complain("\(app): \(answer.line)", hint: answer.hint)
        }
        switch answer.kind {
        case .accepted: return
        case .rejected: throw ExitCode.badInput
        case .fault: throw ExitCode.badConfiguration
        case .later: throw ExitCode.tryAgain
        }
    }
}
