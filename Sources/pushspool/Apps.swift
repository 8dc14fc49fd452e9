import ArgumentParser
import CommandProgram
import Configuration
import Document
import LinuxIO
import ServiceProcess
import SpoolModel

/// The command `pushspool app`.
struct Apps: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "Add an app to the configuration.",
        discussion: """
            An app is one identity at one gateway, with a file of its own in the folder `apps` of the configuration.

            Example: pushspool app add weather AuthKey_ABC123DEFG.p8 --team DEF123GHIJ --topic com.example.weather \
            --environment production
            """,
        subcommands: [AddApp.self])
}

/// The command `pushspool app add`.
struct AddApp: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Write an app's file, from its key file.",
        discussion: """
            Takes from the key file what that tells: AuthKey_<key id>.p8 is a key for Apple's gateway, a service account's \
            JSON file is for FCM and names the project, and PEM or PKCS#12 (.p12) is a certificate. Writes <apps>/<app>.yaml, \
            which names the key file where it is, if the daemon can read that and others cannot; overwrites nothing. A \
            running daemon uses the app at once. Exits with 65 if the input is at fault.

            Example: pushspool app add weather AuthKey_ABC123DEFG.p8 --team DEF123GHIJ --topic com.example.weather \
            --environment production
            """)

    @OptionGroup var options: ConfigurationOption

    @Option(
        help: ArgumentHelp(
            "The protocol: http2 or, for a certificate, binary. The key file tells http2 from fcm.",
            valueName: "protocol"))
    var `protocol`: String?

    @Option(help: ArgumentHelp("Apple's environment: sandbox or production.", valueName: "environment"))
    var environment: String?

    @Option(help: ArgumentHelp("The bundle identifier of the app at Apple.", valueName: "topic"))
    var topic: String?

    @Option(help: ArgumentHelp("The team id, for a key from Apple's developer site.", valueName: "id"))
    var team: String?

    @Option(help: ArgumentHelp("The key id, if the key file's name does not have it.", valueName: "id"))
    var keyID: String?

    @Option(help: ArgumentHelp("The FCM project, if it is not the service account's.", valueName: "project"))
    var project: String?

    @Argument(help: ArgumentHelp("The app's name, and that of its folder in the spool.", valueName: "app"))
    var app: String

    @Argument(help: ArgumentHelp("The key file.", valueName: "key"), completion: .file())
    var key: String

    /// The options, by the keys that they set in the app's file.
    private var values: KeyValuePairs<String, (option: String, value: String?)> {
        [
            "protocol": ("--protocol", `protocol`), "environment": ("--environment", environment),
            "topic": ("--topic", topic),
            "credentials.token.team_id": ("--team", team), "credentials.token.key_id": ("--key-id", keyID),
            "project": ("--project", project),
        ]
    }

    func run() throws {
        let daemon = try ConfigurationLoader(path: options.config).daemon()
        var file = NewApp(name: app, key: key)
        for (path, setting) in values { file.values[path] = setting.value }
        do {
            let (path, set) = try file.write(for: daemon)
            FindingList(set).note()
            Talk.say("\(path): \(set.apps[app]?.summary ?? "written")")
            Talk.note(
                "hint: send a first notification: pushspool test\(options.repeated) \(ShellWord.spelled(app)) TOKEN")
        } catch let refused as NewApp.Refused {
            for diagnostic in refused.diagnostics where diagnostic.severity == .error { complain(diagnostic) }
            throw ExitCode.badInput
        } catch let error as SystemError {
            Talk.complain("\(error)", hint: "run it as a user who may write to \(daemon.apps)")
            throw ExitCode.badInput
        }
    }

    /// Prints a fault, with the option in place of the key that it sets.
    private func complain(_ diagnostic: Diagnostic) {
        let option = values.first { $0.key == diagnostic.path }?.value.option
        Talk.complain(option.map { "\($0): \(diagnostic.message)" } ?? diagnostic.sentence, hint: diagnostic.hint)
    }
}
