package import Configuration
import JournalModel
import LinuxIO
package import Logging
package import SpoolModel
import SpoolStore

/// Executes operators' commands while no daemon is running. It holds the node's lock, so that none can start in the
/// meantime.
///
/// Every call blocks.
package final class StoppedApps {
    /// How long to wait for the journal if another node of the cluster has it: it finishes this node's jobs, and gives the
    /// journal back when asked.
    private static let patience = Duration.seconds(10)

    private let context: StoppedJobs.Context
    private let left: [String: LeftBehind]
    private var apps: [String: StoppedJobs] = [:]

    /// Takes the node's lock, and reads the journal.
    ///
    /// - Throws: `SpoolFault` if a daemon holds the lock, or the spool belongs to another user; `SystemError` if the
    ///   spool cannot be used.
    package init(_ configuration: DaemonConfiguration, logger: Logger) throws {
        var terms = configuration.cluster
        terms?.patience = Self.patience
        let spool = try Spool(
            path: configuration.spool, node: configuration.node ?? Host.name,
            journalByteCount: configuration.journal.byteCount, cluster: terms)
        context = StoppedJobs.Context(spool: spool, configuration: configuration, logger: logger)
        left = spool.replay.leftBehind
    }

    /// Records a clean shutdown, so that the next daemon does not blame a job for the end of this process.
    ///
    /// - Throws: `JournalFault`: recorded changes may be lost.
    package func close() throws {
        try context.spool.journal.append(.stopped)
        try context.spool.journal.flush()
        try context.spool.leave(.stopped)
    }

    /// Executes one command.
    ///
    /// - Returns: The answer for the operator.
    package func carryOut(_ request: ControlRequest) async -> ControlAnswer {
        do {
            if request.command == .pause || request.command == .resume { return try pauseOrResume(request) }
            guard let reference = request.reference else { return .nameless(request.job ?? "") }
            let apps = try names(of: reference.app).map { OperatorCommands(try jobs(of: $0)) }
            let answer = await request.carryOut(in: apps, reference)
            guard answer.kind == .notFound else { return answer }
            let job = try ForeignJob(reference, in: context.spool.root, besides: [context.spool.node])
            return job?.answer("its daemon does not run", hint: "start a daemon on this spool, and try again") ?? answer
        } catch {
            return request.refusal(error, in: request.reference?.app ?? request.app)
        }
    }

    /// The app with this name, or all apps: the folders of the spool that contain `new/`.
    private func names(of app: String?) throws(SystemError) -> [String] {
        var names: [String] = []
        for name in try context.spool.appNames() where app == nil || app == name {
            let hasNew = try context.spool.root.openChild(Array(name.utf8)).status(of: Array("new".utf8)) != nil
            if hasNew { names.append(name) }
        }
        return names
    }

    private func jobs(of app: String) throws -> StoppedJobs {
        if let known = apps[app] { return known }
        let jobs = try StoppedJobs(app, in: context, left: left[app] ?? LeftBehind())
        apps[app] = jobs
        return jobs
    }

    /// Marks an app, or all apps, as paused or resumed for the next daemon.
    private func pauseOrResume(_ request: ControlRequest) throws -> ControlAnswer {
        let names = try names(of: request.app)
        if let app = request.app, names.isEmpty {
            return ControlAnswer(.refused, "no such app", hint: "list the folders of the spool").about(app)
        }
        let word = request.command == .pause ? "paused" : "resumed"
        let answers = try names.map { name in
            let folders = try jobs(of: name).held.spool
            if request.command == .pause { try folders.beginPause() } else { try folders.endPause() }
            return ControlAnswer(.done, word).about(name)
        }
        return request.app == nil ? ControlAnswer(ofAll: answers, word) : answers[0]
    }
}
