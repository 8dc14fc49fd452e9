import ArgumentParser
import CommandProgram
import Configuration
import Doctor
import DoorModel
import Doors
import LinuxIO
import Logging
import ServiceProcess

/// The entry point.
@main
enum Program {
    /// The signals that the process receives, blocked before it has a second thread; see `BlockedSignals`.
    static let signals = CommandProgram.blocked(Signal.allCases)

    /// The service manager that started it and expects notifications.
    static let serviceManager = CommandProgram.announcedServiceManager()

    /// Runs the command line.
    static func main() {
        CommandProgram.main(PushspoolDoor.self) { command in
            guard command is Run else { return }
            _ = signals
            _ = serviceManager
            CommandProgram.needed { () throws(SystemError) in try TaskThread.start() }
        }
    }
}

/// The program: the doors through which existing clients reach the spool.
struct PushspoolDoor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pushspool-door",
        abstract: "Take requests of existing clients, and drop them as jobs into the spool.",
        discussion: """
            An APNs client that is pointed at the relay works unchanged: it gets its 200 once the notification is safe in \
            the spool, from which the daemon of pushspool(1) sends it. Other doors take jobs over HTTP, and the calls of \
            clients of pyapns, gorush and py-apnsd.
            """,
        version: Version.current,
        subcommands: [Run.self, Check.self, Examine.self, MakeCertificate.self])
}

/// The option for the doors' configuration file.
struct DoorsOption: ParsableArguments {
    @Option(
        name: .shortAndLong, help: ArgumentHelp("The doors' configuration file.", valueName: "file"),
        completion: .file())
    var config = "/etc/pushspool/doors.yaml"
}

/// The command `pushspool-door run`.
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Open the doors.",
        discussion: """
            Logs to standard error. TERM and INT close the doors: requests that have arrived are answered, and clients are \
            told to go elsewhere. HUP reloads the configuration.

            Example: pushspool-door run --config etc/doors.yaml
            """)

    @OptionGroup var options: DoorsOption

    func run() async throws {
        Host.returnLargeBlocks()
        forbidDumps()
        let settings = DoorProcess.Settings(
            path: options.config, signals: Program.signals, serviceManager: Program.serviceManager)
        let process = try process(settings)
        do {
            try await process.run()
        } catch {
            Talk.complain("\(error)", hint: "check the addresses in doors.yaml, and that no other program uses them")
            throw ExitCode.tryAgain
        }
    }

    /// Forbids core dumps. Must be called before any key is read.
    private func forbidDumps() {
        do throws(SystemError) {
            try MemoryDump.forbid()
        } catch {
            Talk.complain(
                "cannot disable core dumps, which contain keys: \(error)", hint: "check the sandbox that it runs in")
        }
    }

    private func process(_ settings: DoorProcess.Settings) throws -> DoorProcess {
        do throws(DoorProcess.StartFault) {
            return try DoorProcess(settings) { configuration in
                LineLogHandler.queued("pushspool-door", settings.logThreshold, format: configuration.logFormat)
            }
        } catch {
            switch error {
            case .configuration(let set): FindingList(set.findings).note()
            case .place(let message, let hint): Talk.complain(message, hint: hint)
            case .shortage(let message):
                Talk.complain(message, hint: "raise the limits of open files and threads")
                throw ExitCode.tryAgain
            }
            throw ExitCode.badConfiguration
        }
    }
}

/// The command `pushspool-door check`.
struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check the configuration of the doors; open nothing.",
        discussion: """
            Reports every fault that `run` would find in the file and in those that it names, each with file, line and \
            remedy. Exits with 78 if there is one, else with 0.

            Example: pushspool-door check --config etc/doors.yaml
            """)

    @OptionGroup var options: DoorsOption

    func run() async throws {
        let set = DoorLoader(path: options.config).load()
        FindingList(set.findings).note()
        if set.hasErrors { throw ExitCode.badConfiguration }
        let configuration = set.configuration
        if let relay = configuration.relay { Talk.say("apns: relay at \(relay.address)") }
        if let place = configuration.http { Talk.say("http: JSON at \(place)") }
        if let door = configuration.xmlrpc { Talk.say("xmlrpc: at \(door.place), provision: \(door.provision)") }
        if let door = configuration.zeromq { Talk.say("zeromq: at \(door.endpoint), for \(door.app)") }
        for (producer, _) in set.configuration.producers {
            let apps = producer.apps?.sorted().joined(separator: ", ") ?? "all apps"
            Talk.say("\(producer.name): \(apps)")
        }
    }
}

/// The command `pushspool-door doctor`.
struct Examine: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find out why nothing comes through the doors, and print the remedy.",
        discussion: """
            Checks the configuration, the daemon's list of apps, the rights to drop jobs, to keep marks and to read \
            feedback, the free space, and whether each door answers, and prints a line for each: fault, warn or ok, with \
            a hint; faults first. Run it as the doors' user. Exits with 78 for a fault, 1 for a warning, and 0 otherwise.

            Example: pushspool-door doctor --config etc/doors.yaml
            """)

    @OptionGroup var options: DoorsOption

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let report = try await report()
        report.say(asJSON: json)
        switch report.severity {
        case .fault: throw ExitCode.badConfiguration
        case .warn: throw ExitCode.failure
        case .ok: return
        }
    }

    private func report() async throws -> DoctorReport {
        do throws(SystemError) {
            return await (try DoorExamination(path: options.config)).report()
        } catch {
            Talk.complain("\(error)", hint: "raise the limits on open files and threads, and try again")
            throw ExitCode.tryAgain
        }
    }
}
