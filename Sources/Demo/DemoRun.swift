import Configuration
import GatewaySimulator
import LinuxIO
import Logging
import PushDaemon
import ServiceProcess
import Synchronization

/// Starts a gateway and the daemon, drops the jobs, and waits until all of them have ended.
package struct DemoRun {
    private static let timeLimit = Duration.seconds(30)

    let folder: DemoFolder
    let scenario: DemoScenario
    /// The program's version.
    let version: String

    /// Creates a run.
    package init(folder: DemoFolder, scenario: DemoScenario, version: String) {
        (self.folder, self.scenario, self.version) = (folder, scenario, version)
    }

    /// Runs the demo.
    ///
    /// - Throws: `DemoFault` if it does not end in time, and all errors that prevent the start of the gateway or the
    ///   daemon.
    package func run() async throws -> DemoOutcome {
        let start = ContinuousClock.now
        let credentials = try DemoCredentials()
        return try await Simulator.running(try gateway(for: credentials)) { simulator in
            try folder.write(scenario.apps, for: simulator, credentials)
            let log = try DemoLog(path: folder.path)
            var settings = Daemon.Settings(path: folder.configuration, signals: try BlockedSignals([]))
            settings.version = version
            let daemon = try Self.daemon(settings, log)
            return try await withThrowingTaskGroup { group in
                group.addTask { try await daemon.run() }
                let deadline = ContinuousClock.now + Self.timeLimit
                try await dropJobs(until: deadline)
                var outcome = try await awaitOutcome(of: scenario.jobs, until: deadline)
                group.cancelAll()
                outcome.ledger = await simulator.ledger
                outcome.duration = ContinuousClock.now - start
                if let failure = log.failure { throw failure }
                return outcome
            }
        }
    }

    private func gateway(for credentials: DemoCredentials) throws -> Simulator.Configuration {
        var configuration = Simulator.Configuration()
        configuration.topic = DemoApp.news.topic
        configuration.ledgerPath = folder.ledger
        configuration.requestRules.keys = [credentials.key]
        configuration.requestRules.foreign = [DemoJobs.foreign.bytes]
        configuration.requestRules.unregistered = [DemoJobs.uninstalled.bytes: 1_795_000_000_123]
        configuration.rules.unregistered = [DemoJobs.refused.bytes]
        configuration.gone = DemoJobs.gone.map { GoneToken(token: $0.bytes, epochSeconds: 1_795_000_000) }
        configuration.fcm.rules.projects = [credentials.project]
        configuration.fcm.rules.unregistered = [DemoJobs.removed.text]
        var quota = FCMRules.Quota(messageCount: DemoJobs.androidQuota)
        (quota.window, quota.retryAfter) = (.seconds(1), 1)
        configuration.fcm.rules.quota = quota
        configuration.fcm.rules.accessTokenLifetime = .seconds(2)
        configuration.script = try FaultScript(scenario.script)
        configuration.logger = Logger(label: "gateway") { _ in SwiftLogNoOpLogHandler() }
        return configuration
    }

    /// Creates a daemon whose log goes to a file.
    static func daemon(_ settings: Daemon.Settings, _ log: DemoLog) throws -> Daemon {
        try Daemon(settings) { configuration in
            Logger(label: "pushspool") { _ in
                LineLogHandler(level: .info, format: configuration.logFormat) { log.write($0) }
            }
        }
    }

    /// Renames each job into `new/`, as every producer should, once the daemon has created the app's folders.
    private func dropJobs(until deadline: ContinuousClock.Instant) async throws {
        let spool = try Directory.open(path: folder.spool)
        for app in scenario.apps {
            let home = try await home(of: app, in: spool, until: deadline)
            let (new, staging) = (try home.openChild(Array("new".utf8)), try home.openChild(Array("tmp".utf8)))
            for job in scenario.jobs where job.app == app {
                try drop(job, staging, new)
                if scenario.isInOrder { _ = try await awaitOutcome(of: [job], until: deadline) }
            }
        }
    }

    /// Waits until the daemon has created an app's folders.
    private func home(
        of app: DemoApp, in spool: Directory, until deadline: ContinuousClock.Instant
    ) async throws -> Directory {
        while true {
            // The daemon creates feedback/ last.
            if let home = try? spool.openChild(Array(app.rawValue.utf8)),
                (try? home.status(of: Array("feedback".utf8))) ?? nil != nil
            {
                return home
            }
            guard ContinuousClock.now < deadline else {
                throw DemoFault(
                    message: "the daemon did not create the folders of app \(app)", hint: "see \(folder.log)")
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private func drop(_ job: DemoJob, _ staging: Directory, _ new: Directory) throws(SystemError) {
        let name = Array(job.name.utf8)
        switch job.content {
        case .text(let text):
            try staging.create(name, mode: 0o644).write(Array(text.utf8))
            try staging.rename(name, to: new, as: name)
        case .link(let target):
            try new.makeSymbolicLink(name, to: target)
        }
    }

    /// Polls until every job is archived, and its line and those of the feedback service are published.
    private func awaitOutcome(of jobs: [DemoJob], until deadline: ContinuousClock.Instant) async throws -> DemoOutcome {
        while true {
            let outcome = try DemoOutcome.read(folder, jobs, of: scenario)
            if outcome.isComplete { return outcome }
            guard ContinuousClock.now < deadline else {
                let missing = outcome.missing.joined(separator: ", ")
                throw DemoFault(
                    message: "not finished after \(Self.timeLimit.components.seconds) s: \(missing)",
                    hint: "see \(folder.log)")
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}

/// The daemon's log, written to a file in the demo's folder.
final class DemoLog: Sendable {
    private let file: OpenFile
    private let lost = Mutex<SystemError?>(nil)

    /// Creates `daemon.log`.
    ///
    /// - Throws: `SystemError`: the folder cannot be written.
    init(path: String) throws(SystemError) {
        file = try Directory.open(path: path).create(Array("daemon.log".utf8), mode: 0o644)
    }

    /// Appends a line.
    func write(_ line: [UInt8]) {
        do throws(SystemError) {
            try file.write(line)
        } catch {
            lost.withLock { $0 = error }
        }
    }

    /// Why lines are missing, if any are.
    var failure: SystemError? { lost.withLock { $0 } }
}

/// The error that prevents the demo.
package struct DemoFault: Error {
    /// What is wrong.
    package let message: String
    /// The remedy, if there is one.
    package let hint: String?
}
