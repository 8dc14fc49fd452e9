import ArgumentParser
import PushDaemon
import SpoolModel

/// The jobs that a command is about, and how it is carried out for each of them.
struct JobArguments: ParsableArguments {
    @OptionGroup var options: ConfigurationOption

    @Option(name: .shortAndLong, help: ArgumentHelp("The app of jobs that are named without.", valueName: "name"))
    var app: String?

    @Flag(help: "Print a JSON object a line.")
    var json = false

    @OptionGroup var input: NameInput

    @Argument(
        help: ArgumentHelp(
            "Jobs: name, app/name, the file's path, an id, or ref: and the producer's id; - is standard input.",
            valueName: "job"))
    var jobs: [String]

    /// Carries out a command for each job, and prints a line for each.
    ///
    /// - Parameter makeRequests: What is to be asked for a job; the next only if the one before was good.
    /// - Throws: `ExitCode`: 1 when something was refused or not found, 75 when nobody carries it out.
    func carryOut(_ makeRequests: (String) -> [ControlRequest]) throws {
        let (configuration, isGoodConfiguration) = try ConfigurationLoader(path: options.config).places()
        let names = try input.all(of: jobs)
        let steps = names.map { ($0, makeRequests($0)) }
        try Executor.carryOut(steps, under: configuration, mayBeOffline: isGoodConfiguration, isJSON: json)
    }

    /// Makes the request for a job.
    func request(_ command: ControlRequest.Command, _ name: String) -> ControlRequest {
        ControlRequest(command, job: name, app: app)
    }
}
