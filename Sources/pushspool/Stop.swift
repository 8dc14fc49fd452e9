import ArgumentParser
import CommandProgram
import Configuration
import LinuxIO
import PushDaemon
import ServiceProcess
import SpoolInspection
import SpoolModel

/// The command `pushspool stop`.
struct Stop: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop the daemon and wait until it has ended.",
        discussion: """
            Like TERM: the daemon takes no more jobs and lets active ones finish, for as long as its own --drain allows; \
            unfinished jobs stay in work/ for the next start. With --drain it waits as long as necessary, or as --timeout \
            allows. With --handover, in a cluster, it waits only until each notification on a connection has its outcome, \
            and another node finishes the jobs. A second stop without --drain does not wait. Exits with 75 if no daemon \
            answers.

            Example: pushspool stop --drain --timeout 600
            """)

    @OptionGroup var options: ConfigurationOption

    @Flag(help: "Let all active jobs finish first.")
    var drain = false

    @Flag(help: "Leave active jobs to the other nodes of the cluster.")
    var handover = false

    @Option(help: ArgumentHelp("The longest time to wait for active jobs: 30 or 30s, 5m.", valueName: "duration"))
    var timeout: TimeLimit?

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func validate() throws {
        guard !(drain && handover) else {
            throw ValidationError("--drain cannot be combined with --handover: jobs finish here or elsewhere.")
        }
        guard (0...31_536_000).contains(timeout?.seconds ?? 0) else {
            throw ValidationError("--timeout takes 0 to 31536000 seconds.")
        }
    }

    func run() throws {
        let configuration = try ConfigurationLoader(path: options.config).places().daemon
        var request = ControlRequest(.stop)
        (request.drains, request.timeout, request.handsOver) = (drain, timeout?.seconds, handover)
        do {
            let client = try ControlClient(configuration)
            let process = client.process
            try follow(client, request)
            try awaitEnd(of: process)
        } catch let error as SystemError {
            let hint =
                error.isPermission
                ? "run the command as the daemon's user or as a member of control.group"
                : "if the daemon is running, look in its log for the control socket, or send it TERM"
            Talk.complain("no daemon answers: \(error)", hint: hint)
            throw ExitCode.tryAgain
        }
    }

    /// Prints the daemon's answers until it has ended.
    private func follow(_ client: ControlClient, _ request: ControlRequest) throws {
        var last: String?
        var answer = try client.answer(to: request)
        while let told = answer {
            if json { Talk.say(told.line) } else if told.text != last { Talk.note(told.text) }
            last = told.text
            guard told.isGood else { throw ExitCode.failure }
            do throws(SystemError) {
                answer = try client.nextAnswer()
            } catch {
                // The end of the daemon may reset the connection.
                guard error.isConnectionReset else { throw error }
                answer = nil
            }
        }
    }

    /// Waits for the process, which ends shortly after the connection.
    private func awaitEnd(of process: Int32?) throws(SystemError) {
        guard let process, try !Host.awaitEnd(of: process, within: .seconds(10)) else { return }
        throw .timedOut("poll", "process \(process)")
    }
}
