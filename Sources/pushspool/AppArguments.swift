import ArgumentParser
import PushDaemon
import SpoolModel

/// The apps that a command is about: those that are named, or all.
struct AppArguments: ParsableArguments {
    @OptionGroup var options: ConfigurationOption

    @Flag(help: "Print a JSON object a line.")
    var json = false

    @OptionGroup var input: NameInput

    @Argument(
        help: ArgumentHelp("Apps; all if none is named; - for those on standard input.", valueName: "app"))
    var apps: [String] = []

    /// Carries out a command for each app, and prints a line for each.
    ///
    /// - Throws: `ExitCode`: 1 when something was refused, 75 when nobody carries it out, 78 when it may not be done
    ///   without a daemon.
    func carryOut(_ command: ControlRequest.Command) throws {
        let (configuration, isGood) = try ConfigurationLoader(path: options.config).places()
        let names = try input.all(of: apps)
        // Standard input may have had no names at all.
        if names.isEmpty, !apps.isEmpty { return }
        let requests = names.map { ($0, [ControlRequest(command, app: $0)]) }
        try Executor.carryOut(
            apps.isEmpty ? [("all apps", [ControlRequest(command)])] : requests, under: configuration,
            mayBeOffline: isGood, isJSON: json)
    }
}
