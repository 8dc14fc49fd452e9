import ArgumentParser
import Configuration
import SpoolModel

/// The apps to which a command applies: the named ones, or all.
struct AppArguments: ParsableArguments {
    @OptionGroup var options: ConfigurationOption

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @OptionGroup var input: NameInput

    @Argument(
        help: ArgumentHelp("Apps; all apps by default; - reads names from standard input.", valueName: "app"))
    var apps: [String] = []

    /// Executes a command for each app, and prints a line for each.
    ///
    /// - Throws: `ExitCode`: 1 if a command was refused, 65 if standard input cannot be read, 75 if neither the daemon nor this
    ///   program can execute it, 78 if the configuration is too faulty.
    func run(_ command: ControlRequest.Command) async throws {
        let (configuration, isGood) = try ConfigurationLoader(path: options.config).places()
        let names = try input.all(of: apps)
        // Standard input may have contained no names.
        if names.isEmpty, !apps.isEmpty { return }
        let steps: [CommandRun.Step] =
            apps.isEmpty
            ? [.init(about: "all apps", requests: [ControlRequest(command)])]
            : names.map { .init(about: $0, requests: [ControlRequest(command, app: $0)]) }
        let run = CommandRun(steps: steps, isJSON: json)
        try await Executor.run(run, under: configuration, mayBeOffline: isGood)
    }
}
