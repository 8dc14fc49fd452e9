import APNSModel
import ArgumentParser
import ChannelManagement
import CommandProgram
import Configuration
import Document
import JobFormat
import LinuxIO
import PushDaemon
import PushModel
import ServiceProcess
import SpoolInspection
import SpoolModel

/// The command `pushspool channel`.
struct Channels: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel",
        abstract: "Create, list, show and delete the broadcast channels of an app.",
        discussion: """
            A broadcast goes to all devices that follow a channel. Its job names the channel in place of tokens. These \
            commands talk to Apple's channel management with the app's credentials, and keep the channels' names in \
            <app>.channels.json beside the app's own file; a running daemon reads it at once. They need permission to read \
            the credentials, and create and delete need permission to change that folder.

            Example: pushspool channel create goals --app weather --policy latest
            """,
        subcommands: [CreateChannel.self, ListChannels.self, ShowChannel.self, DeleteChannel.self])
}

/// The options of all commands about channels.
struct ChannelOptions: ParsableArguments {
    @OptionGroup var options: ConfigurationOption

    @Option(name: .shortAndLong, help: ArgumentHelp("The app that the channels belong to.", valueName: "name"))
    var app: String

    @Flag(help: "Print one JSON object per line.")
    var json = false

    /// Calls `body` with the app's register.
    ///
    /// - Throws: `ExitCode`, after reporting the fault: 65 for a wrong name or id, 75 if a later attempt may succeed, 78 if the
    ///   configuration, the credentials or the app's settings at Apple are wrong.
    func withRegister(_ body: (ChannelRegister) async throws -> Void) async throws {
        let (configured, daemon) = try ConfigurationLoader(path: options.config).app(app)
        do {
            let register = try ChannelRegister(configured, folder: daemon.apps, on: try Reactor(name: "channels"))
            try await body(register)
            await register.close()
        } catch let fault as ChannelFault {
            Talk.complain(fault.message, hint: fault.hint)
            switch fault.kind {
            case .input: throw ExitCode.badInput
            case .configuration: throw ExitCode.badConfiguration
            case .later: throw ExitCode.tryAgain
            }
        } catch let error as SystemError {
            Talk.complain("\(error)", hint: "raise the limits on open files and threads, and try again")
            throw ExitCode.tryAgain
        }
    }

    /// Has a running daemon read the new names, and waits until jobs may use them.
    func notifyDaemon() {
        let daemon = ConfigurationLoader(path: options.config).loadDaemon().daemon
        do throws(SystemError) {
            guard let answer = try ControlClient(daemon).answer(to: ControlRequest(.reload)), !answer.isGood else {
                return
            }
            Talk.note("pushspool: the daemon did not read the names: \(answer.text)")
        } catch {
            // Without a daemon there is nobody to tell.
            if error.isNotFound || error.isConnectionRefused { return }
            Talk.note("pushspool: the daemon reads the names by itself within a second: \(error)")
        }
    }

    /// The channel as one JSON object and a line feed.
    func line(_ entry: ChannelRegister.Entry, _ more: (name: String, value: Bool)? = nil) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("app", app)
        writer.member("channel", entry.name)
        writer.member("id", entry.channel.id.text)
        writer.member("policy", entry.channel.policy.map { PolicyWord($0).rawValue })
        writer.key("registered")
        writer.boolean(entry.isRegistered)
        if let more {
            writer.key(more.name)
            writer.boolean(more.value)
        }
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}

extension PolicyWord: ExpressibleByArgument {}

/// The command `pushspool channel create`.
struct CreateChannel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a channel, name it, and print its id.",
        discussion: """
            The id is what devices subscribe to. If the app has a channel of this name with this policy, prints its id, so \
            you can repeat the command. An answer that got lost is looked up before the request is repeated, also by the \
            next command if this one is killed.

            Example: pushspool channel create goals --app weather --policy latest
            """)

    @OptionGroup var channels: ChannelOptions

    @Option(
        help: ArgumentHelp(
            "What Apple stores for devices that are offline: none, or the latest broadcast. It cannot be changed later.",
            valueName: "policy"))
    var policy: PolicyWord

    @Argument(help: ArgumentHelp("The channel's name in jobs.", valueName: "name"))
    var name: String

    func run() async throws {
        try await channels.withRegister { register in
            let (channel, isNew) = try await register.create(name, policy.policy)
            channels.notifyDaemon()
            let entry = ChannelRegister.Entry(name: name, channel: channel, isRegistered: true)
            if channels.json {
                Talk.say(channels.line(entry, ("created", isNew)))
            } else {
                Talk.say(channel.id.text)
                if !isNew { Talk.note("pushspool: the channel \(name) existed before") }
            }
        }
    }
}

/// The command `pushspool channel list`.
struct ListChannels: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List an app's channels: those with names first.",
        discussion: """
            Prints the channels that the app's files name, and those that only Apple has. A name whose channel Apple does \
            not have is marked as unregistered: broadcasts to it are refused. Policies are those of the files; `show` asks \
            Apple.

            Example: pushspool channel list --app weather
            """)

    @OptionGroup var channels: ChannelOptions

    func run() async throws {
        try await channels.withRegister { register in
            let entries = try await register.list()
            guard !channels.json else { return Talk.say(entries.flatMap { channels.line($0) }) }
            let rows = entries.map { entry in
                let policy = entry.channel.policy.map { PolicyWord($0).rawValue } ?? "-"
                return [entry.name ?? "-", policy, entry.isRegistered ? "yes" : "no", entry.channel.id.text]
            }
            guard !rows.isEmpty else { return Talk.note("no channels") }
            for line in Table(header: ["name", "policy", "registered", "id"], rows: rows).lines { Talk.say(line) }
        }
    }
}

/// The command `pushspool channel show`.
struct ShowChannel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Ask Apple what a channel stores.",
        discussion: "Example: pushspool channel show goals --app weather")

    @OptionGroup var channels: ChannelOptions

    @Argument(help: ArgumentHelp("The channel's name or id.", valueName: "channel"))
    var channel: String

    func run() async throws {
        try await channels.withRegister { register in
            let entry = try await register.show(channel)
            guard !channels.json else { return Talk.say(channels.line(entry)) }
            let policy = entry.channel.policy.map { PolicyWord($0).rawValue } ?? "unknown to this version"
            Talk.say("\(entry.name ?? "without a name"): id \(entry.channel.id.text), policy \(policy)")
        }
    }
}

/// The command `pushspool channel delete`.
struct DeleteChannel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a channel for good, and its name.",
        discussion: """
            Devices that follow the channel get nothing more. A channel that Apple no longer has loses its name.

            Example: pushspool channel delete goals --app weather
            """)

    @OptionGroup var channels: ChannelOptions

    @Argument(help: ArgumentHelp("The channel's name or id.", valueName: "channel"))
    var channel: String

    func run() async throws {
        try await channels.withRegister { register in
            let deletion = try await register.delete(channel)
            channels.notifyDaemon()
            if channels.json {
                Talk.say(channels.line(deletion.entry, ("deleted", deletion.wasRegistered)))
            } else {
                Talk.say("\(channel): \(deletion.wasRegistered ? "deleted" : "was deleted before")")
            }
            guard deletion.isStillNamed else { return }
            Talk.note("pushspool: \(channels.app).yaml still names this channel")
            Talk.note("hint: remove it from channels: of that file")
        }
    }
}
