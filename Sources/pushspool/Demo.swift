import ArgumentParser
import Configuration
import Demo
import GatewaySimulator
import LinuxIO
import PushDaemon
import ServiceProcess
import SpoolClient
import SpoolInspection

/// The command `pushspool demo`.
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send sample jobs to a simulated gateway and show the results.",
        discussion: """
            Creates a folder with a spool, a configuration, a throw-away key and certificates, starts a gateway and the \
            daemon on this host, drops valid and invalid jobs of every form into new/ of three apps (HTTP/2 with a \
            provider token, HTTP/2 with a certificate, the binary protocol), and shows the result of each. \
            Nothing leaves the host, and you can inspect the folder afterwards. Takes about five seconds; exits with 1 if \
            a job ends differently than expected. The scenario live-activity starts a Live Activity on five devices, updates \
            it by broadcasts over a channel, and ends it. The scenario android sends one template to devices of both \
            platforms, and shows an app that was removed, a quota and the renewal of an access token at FCM. The scenario \
            door starts pushspool-door, too, and lets curl and Python push through it.

            Example: pushspool demo --scenario live-activity --folder /tmp/pushspool-demo
            """)

    /// What the demo shows.
    enum Subject: String, CaseIterable, ExpressibleByArgument {
        case samples, android, door
        case liveActivity = "live-activity"
    }

    @Option(help: "What to show.")
    var scenario = Subject.samples

    @Option(
        help: ArgumentHelp(
            "The folder to create; it must not exist. Default: a new one in /tmp.", valueName: "folder"),
        completion: .directory)
    var folder: String?

    func run() async throws {
        do {
            let folder = try DemoFolder.make(at: folder)
            guard scenario != .door else { return try await showDoors(in: folder) }
            let scenario = DemoScenario(rawValue: self.scenario.rawValue) ?? .samples
            let jobs = scenario.jobs
            Talk.say("Sending \(jobs.count) sample jobs to a gateway on this host, in \(folder.path)")
            let outcome = try await DemoRun(folder: folder, scenario: scenario, version: Version.current).run()
            let faults = DemoVerdict(
                jobs: jobs, outcome: outcome, accessTokenCount: scenario.accessTokenCount
            ).faults
            for line in DemoReport(folder: folder, scenario: scenario, outcome: outcome, faults: faults).lines {
                Talk.say(line)
            }
            if !faults.isEmpty { throw ExitCode.failure }
        } catch let fault as DemoFault {
            Talk.complain(fault.message, hint: fault.hint)
            throw ExitCode.failure
        } catch let fault as SimulatorFault {
            Talk.complain(fault.message, hint: fault.hint)
            throw ExitCode.failure
        } catch let fault as Daemon.StartFault {
            switch fault {
            case .configuration(let set): FindingList(set).note()
            case .spool(let message, let hint), .limit(let message, let hint), .shortage(let message, let hint):
                Talk.complain(message, hint: hint)
            }
            throw ExitCode.failure
        } catch let error as SpoolClientError {
            Talk.complain(error.message, hint: error.hint)
            throw ExitCode.failure
        } catch let error as SystemError {
            Talk.complain("\(error)", hint: "choose another place with --folder")
            throw ExitCode.failure
        }
    }

    private func showDoors(in folder: DemoFolder) async throws {
        Talk.say("Pushing through doors to a gateway on this host, in \(folder.path)")
        let demo = DoorDemo(folder: folder, version: Version.current, beside: CommandLine.arguments[0])
        let report = try await demo.run()
        for line in report.lines { Talk.say(line) }
        if !report.faults.isEmpty { throw ExitCode.failure }
    }
}
