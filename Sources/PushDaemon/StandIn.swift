import AppEngine
import Configuration
import JournalModel
import LinuxIO
import Logging
import ServiceProcess
import SharedResources
import SpoolStore

/// Finishes the jobs of a node that has died, under that node's name: with its journal, its folders in `work/`, its
/// state and its hook.
///
/// So nothing of its records has to be copied, and when this daemon dies too, another node, or the node itself, goes on
/// in the same way. Runs on the daemon's thread for files.
actor StandIn {
    /// An app that both nodes have.
    struct App: Sendable {
        let configured: ConfiguredApp
        let share: AppShare
    }

    /// How often it checks whether it is done.
    private static let pause = Duration.milliseconds(250)

    /// The node that has died.
    nonisolated let node: String
    private let resources: DaemonResources
    /// The spool as this daemon opened it for itself.
    private let own: Spool
    private let journal: JournalKeeper
    private let files: FileThread
    private var runners: [String: AppRunner] = [:]
    private var isEnding = false
    /// Whether an app could not be opened, and what the node has left in it is unknown.
    private var hasFailed = false

    /// Takes a node's place.
    ///
    /// - Parameters:
    ///   - spool: The spool, opened in its place.
    ///   - resources: The daemon's own resources.
    /// - Throws: `SystemError`: its state cannot be opened.
    init(for spool: Spool, _ resources: DaemonResources) throws {
        node = spool.node
        (files, own) = (resources.files, resources.spool)
        self.resources = try resources.inPlace(of: spool)
        journal = JournalKeeper(self.resources)
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { files.worker.executor }

    private nonisolated var logger: Logger { resources.logger }

    /// Requests of other nodes to the node.
    nonisolated var requests: RequestBox? { resources.spool.requests }

    /// The apps' runners, for operators' commands.
    var running: [AppRunner] { Array(runners.values) }

    /// Finishes the jobs of these apps, and gives the journal back.
    ///
    /// - Parameters:
    ///   - apps: The apps.
    ///   - configuration: The daemon's configuration.
    func run(_ apps: [App], _ configuration: DaemonConfiguration) async {
        journal.reportReplay()
        inheritSuspicions()
        journal.share(among: Set(apps.map(\.configured.configuration.name)))
        await withTaskGroup { group in
            group.addTask { await self.runSyncs(configuration) }
            group.addTask { await self.runCarrying() }
            group.addTask { await self.runApps(apps, configuration) }
            // The apps' task ends when all have ended, the journal's tasks only when the journal fails.
            await group.next()
            if journal.fault != nil { stop() }
            while !runners.isEmpty { try? await resources.reactor.sleep(for: Self.pause) }
            group.cancelAll()
        }
        let end = conclude()
        journal.end(end)
        // A node of a cluster may come back. Without one, nobody asks for the name again.
        if end == .finishedAll, !resources.spool.isShared { removeNode() }
    }

    private func removeNode() {
        do throws(SystemError) {
            try resources.spool.removeNode()
        } catch {
            let hint: Logger.MetadataValue = "move what is in the way out of the spool; the next start tries again"
            logger.warning(
                "a node's folders cannot be removed", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
        }
    }

    /// Returns how the work has ended. If nothing is left, gives back the turns that the node took before it died.
    private func conclude() -> JournalBeat.End {
        guard !isEnding else { return .stopped }
        do throws(SystemError) {
            guard !hasFailed, try resources.spool.isFinished() else { return .triedAll }
            try SharedTurns.giveBackAll(of: resources.spool)
            return .finishedAll
        } catch {
            logger.warning("work/ cannot be read", metadata: [LogKey.error: "\(error)"])
            return .triedAll
        }
    }

    /// Makes this node careful with the files in `new/` that may have killed the other one: it reads them next.
    private func inheritSuspicions() {
        do throws(JournalFault) {
            for (subject, suspicion) in resources.spool.replay.suspects {
                let known = own.journal.suspicion(of: subject)
                let combined = suspicion.combined(with: known)
                if combined != known { try own.journal.append(.suspect(subject, combined)) }
            }
            try own.journal.write()
        } catch {
            logger.warning(
                "files that may have killed a node cannot be recorded", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Ends the work once connections have settled: the node wants its journal back, or this daemon stops.
    func retire() async {
        isEnding = true
        for runner in runners.values { await runner.retire() }
    }

    /// Ends the work at once.
    func stop() {
        isEnding = true
        for runner in runners.values { runner.stop() }
    }

    /// Uses another configuration of the apps. One that is gone ends; its jobs wait for a node that has it.
    func configure(_ set: ConfigurationSet) async {
        for (name, runner) in runners {
            if let app = set.apps[name], await runner.reconfigureIfNeeded(app, asksAgain: true) { continue }
            await runner.retire()
        }
    }

    private func runSyncs(_ configuration: DaemonConfiguration) async { await journal.runSyncs(configuration) }

    private func runCarrying() async {
        await journal.runCarrying(
            isQuiet: { false }, hold: { for runner in runners.values { await runner.holdUnreadable($0) } })
    }

    private func runApps(_ apps: [App], _ configuration: DaemonConfiguration) async {
        await withDiscardingTaskGroup { group in
            for app in apps where !isEnding {
                guard let runner = await open(app, configuration) else { continue }
                runners[runner.name] = runner
                group.addTask { await self.run(runner) }
                // It may have been asked to end while the app was opened.
                if isEnding { await runner.retire() }
            }
            while !runners.isEmpty, !Task.isCancelled {
                for runner in runners.values where await runner.isThrough { runner.stop() }
                try? await resources.reactor.sleep(for: Self.pause)
            }
        }
    }

    private func open(_ app: App, _ configuration: DaemonConfiguration) async -> AppRunner? {
        let name = app.configured.configuration.name
        let context = DaemonContext(resources, configuration, app.share, isStandIn: true)
        do {
            return try await app.share.files.open(app.configured, in: context, left: journal.leftBehind(by: name))
        } catch {
            let hint: Logger.MetadataValue = "the node's jobs of this app wait for the node, or for another one"
            logger.error(
                "app cannot stand in", metadata: [LogKey.app: "\(name)", LogKey.error: "\(error)", LogKey.hint: hint])
            hasFailed = true
            return nil
        }
    }

    private func run(_ runner: AppRunner) async {
        await runner.run()
        runners[runner.name] = nil
    }
}
