import ArgumentParser
import LinuxIO
import PushDaemon
import SpoolModel
import SpoolStore

/// The jobs that a command is about, and how it is carried out for each of them.
struct JobArguments: ParsableArguments {
    @OptionGroup var options: ConfigurationOption

    @Option(name: .shortAndLong, help: ArgumentHelp("The app of jobs that are named without.", valueName: "name"))
    var app: String?

    @OptionGroup var input: NameInput

    @Argument(
        help: ArgumentHelp(
            "Jobs: app/name, app/folder/name, an id, or ref: and the producer's id; - is standard input.",
            valueName: "job"))
    var jobs: [String]

    /// Carries out a command for each job, and prints a line for each.
    ///
    /// - Parameter makeRequests: What is to be asked for a job; the next only if the one before was good.
    /// - Throws: `ExitCode`: 1 when something was refused or not found, 75 when nobody carries it out.
    func carryOut(_ makeRequests: (String) -> [ControlRequest]) throws {
        let configuration = try ConfigurationLoader(path: options.config).daemon()
        let names = try input.all(of: jobs)
        var isGood = true
        do {
            let executor = try Executor.find(configuration)
            for name in names {
                for request in makeRequests(name) {
                    guard let answer = try executor.carryOut(request) else { throw DaemonGone() }
                    answer.print(name)
                    isGood = isGood && answer.isGood
                    if !answer.isGood { break }
                }
            }
            try executor.close()
        } catch {
            try complain(error, configuration)
        }
        guard isGood else { throw ExitCode.failure }
    }

    /// Makes the request for a job.
    func request(_ command: ControlRequest.Command, _ name: String) -> ControlRequest {
        ControlRequest(command, job: name, app: app)
    }

    private func complain(_ error: any Error, _ configuration: DaemonConfiguration) throws -> Never {
        switch error {
        case let error as SystemError where error.isPermission:
            Talk.complain("\(error)", hint: "act as the daemon's user, or as one of the group in control.group")
        case let fault as SpoolFault:
            Talk.complain(
                "no daemon answers in \(configuration.controlFolder), and \(fault.message)",
                hint: "if one runs, see its log on why it has no control socket; else: \(fault.hint)")
        case is DaemonGone:
            Talk.complain("the daemon ended before it answered", hint: "ask again; what it did is in its log")
        default: Talk.complain("\(error)", hint: "see that the daemon runs, or that the spool can be used without")
        }
        throw ExitCode.tryAgain
    }
}

/// The connection ended without an answer.
private struct DaemonGone: Error {}

extension ControlAnswer {
    /// Prints the answer about what was called `name`.
    fileprivate func print(_ name: String) {
        let subject = [app, job].compactMap(\.self).joined(separator: "/")
        let about = job == nil ? name : subject
        if isGood { Talk.say("\(about): \(text)") } else { Talk.complain("\(about): \(text)", hint: hint) }
    }
}
