import ArgumentParser
import CommandProgram
import Configuration
import LinuxIO
import PushModel
import ServiceProcess
import SpoolInspection
import SpoolModel

/// The jobs to which a command applies.
struct JobArguments: ParsableArguments {
    @OptionGroup var options: ConfigurationOption

    @Option(name: .shortAndLong, help: ArgumentHelp("The app of jobs that you name without one.", valueName: "name"))
    var app: String?

    @Flag(help: "All jobs that the command can act on, of the app or of all apps.")
    var all = false

    @Option(
        help: ArgumentHelp(
            "Only jobs that have been in their folder for at least this long, such as 30m; with --all or patterns.",
            valueName: "duration"))
    var olderThan: TimeLimit?

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @OptionGroup var input: NameInput

    @Argument(
        help: ArgumentHelp(
            "Jobs: name, app/name, path, id, or ref: and the producer's id; patterns with *, ? or [; - reads standard input.",
            valueName: "job"))
    var jobs: [String] = []

    func validate() throws {
        guard all == jobs.isEmpty else {
            throw ValidationError(all ? "--all means all jobs: do not name any." : "Name jobs, or give --all.")
        }
        guard olderThan == nil || jobs.allSatisfy(Glob.isPattern) else {
            throw ValidationError("--older-than needs --all or patterns.")
        }
    }

    /// Executes a command for each job, and prints a line for each.
    ///
    /// - Parameters:
    ///   - command: The command. It determines which folders are searched for patterns and `--all`.
    ///   - makeRequests: Returns the requests for a job. A further one is sent only if the previous one succeeded.
    /// - Throws: `ExitCode`: 1 if a command was refused or its job not found, 65 if standard input or the spool cannot be read,
    ///   75 if neither the daemon nor this program can execute it, 78 if the configuration is too faulty.
    func run(_ command: ControlRequest.Command, _ makeRequests: (String) -> [ControlRequest]) async throws {
        let (configuration, isGoodConfiguration) = try ConfigurationLoader(path: options.config).places()
        let wanted: [String?] = all ? [nil] : try input.all(of: jobs)
        var steps: [CommandRun.Step] = []
        for name in wanted {
            if let name, !Glob.isPattern(name) {
                steps.append(.init(about: name, requests: makeRequests(name)))
                continue
            }
            // What a command would do is of no interest for each of many jobs, unless it does no more.
            steps += try selected(name, for: command, in: configuration.spool).map {
                CommandRun.Step(about: $0, requests: Array(makeRequests($0).suffix(1)), isSelected: true)
            }
        }
        var seen: Set<String> = []
        steps.removeAll { !seen.insert($0.about).inserted }
        let isBulk = wanted.contains { $0.map(Glob.isPattern) ?? true }
        let run = CommandRun(steps: steps, isJSON: json, summary: isBulk ? .init(command: command) : nil)
        try await Executor.run(run, under: configuration, mayBeOffline: isGoodConfiguration)
    }

    private func selected(_ pattern: String?, for command: ControlRequest.Command, in spool: String) throws -> [String]
    {
        let before = olderThan.map { WallTime(nanoseconds: WallClock.nanoseconds()) + .seconds(-$0.seconds) }
        var selection = JobSelection(pattern, app: app, in: command.selectableFolders, before: before)
        do throws(SystemError) {
            try selection.look(in: try Directory.open(path: spool))
        } catch {
            Talk.complain("\(error)", hint: SpoolOption.hint)
            throw ExitCode.badInput
        }
        guard selection.unreadable.isEmpty else {
            let folders = selection.unreadable.joined(separator: ", ")
            Talk.complain("no permission to read \(folders), which may contain jobs", hint: "run as the daemon's user")
            throw ExitCode.badInput
        }
        if let pattern, selection.found.isEmpty {
            Talk.complain("no job matches \(pattern)", hint: "see: pushspool list\(options.repeated)")
            throw ExitCode.failure
        }
        return selection.found
    }

    /// Creates the request for a job.
    func request(_ command: ControlRequest.Command, _ name: String) -> ControlRequest {
        ControlRequest(command, job: name, app: app)
    }
}
