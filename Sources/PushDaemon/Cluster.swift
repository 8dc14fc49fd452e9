import AppEngine
import Configuration
import JobOperations
import LinuxIO
import Logging
import SharedResources
import SpoolModel
import SpoolStore

/// The daemon's part in a cluster: which other nodes run, and the nodes whose jobs it finishes.
final class Cluster {
    private let resources: DaemonResources
    private let logger: Logger
    private let scout: PeerScout
    private let pause: Duration
    /// The other nodes that run, or whose jobs another node finishes.
    private var live: Set<String> = []
    private var standIns: [String: StandIn] = [:]
    private var isEnding = false
    private var isOutdated = false

    /// Creates the part; `nil` if the daemon works alone.
    ///
    /// - Throws: `SystemError`: no thread is left.
    init?(_ resources: DaemonResources, _ configuration: DaemonConfiguration) throws(SystemError) {
        guard let terms = configuration.cluster else { return nil }
        (self.resources, logger) = (resources, resources.logger)
        pause = terms.leaseLength / 4
        scout = try PeerScout(resources.spool, terms, resources.logger)
    }

    /// Looks after the other nodes until the task is cancelled.
    ///
    /// - Parameters:
    ///   - daemon: Finishes the jobs of those that have died, and carries out what others pass on.
    ///   - configuration: The configuration.
    func run(for daemon: Daemon, _ configuration: ConfigurationKeeper) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await daemon.runRequests() }
            let start = ContinuousClock.now
            while !Task.isCancelled {
                // An app that hangs while it is opened must not keep the jobs of all others waiting.
                let isReady = await daemon.haveAppsStarted || .now - start > Self.startLimit
                for spool in await look(isReady) { group.addTask { await daemon.standIn(for: spool) } }
                await apply(configuration.current)
                // Not at the same time as other nodes.
                try? await resources.reactor.sleep(for: pause * Double.random(in: 0.75...1.25))
            }
        }
    }

    /// How long this daemon's own apps may take to start before it looks after others' jobs without them.
    private static let startLimit = Duration.seconds(60)

    /// Looks at the other nodes. Returns those that have died, opened in their place.
    private func look(_ mayStandIn: Bool) async -> [Spool] {
        guard !isEnding else { return [] }
        let findings = await scout.look(besides: Set(standIns.keys), mayStandIn)
        if findings.live != live {
            let names = findings.live.sorted().joined(separator: " ")
            logger.notice("other nodes that run", metadata: [LogKey.node: "\(names)"])
        }
        live = findings.live
        resources.cluster?.note(others: live.union(standIns.keys), hasOrphans: findings.hasOrphans)
        return isEnding ? [] : findings.dead
    }

    /// This daemon's part in the cluster, for its status.
    var shown: SpoolStatus.Cluster {
        SpoolStatus.Cluster(
            nodes: resources.cluster?.nodes ?? [], standsInFor: standIns.keys.sorted(), mayAct: resources.spool.mayAct)
    }

    // MARK: Standing in

    /// Finishes a node's jobs until they have ended, the node wants to go on itself, or this daemon stops.
    ///
    /// - Parameters:
    ///   - spool: The spool, opened in the node's place.
    ///   - apps: The running apps.
    ///   - set: The configuration.
    func standIn(for spool: Spool, _ apps: AppSupervisor, _ set: ConfigurationSet) async {
        guard !isEnding else { return }
        do {
            let standIn = try StandIn(for: spool, resources)
            standIns[spool.node] = standIn
            await withDiscardingTaskGroup { group in
                group.addTask { [scout, pause, reactor = resources.reactor] in
                    while !Task.isCancelled {
                        if await scout.isAskedFor(standIn.node) { await standIn.retire() }
                        try? await reactor.sleep(for: pause)
                    }
                }
                await standIn.run(shares(of: apps, in: spool), set.daemon)
                group.cancelAll()
            }
        } catch {
            logger.error(
                "cannot stand in for a node", metadata: [LogKey.node: "\(spool.node)", LogKey.error: "\(error)"])
        }
        standIns[spool.node] = nil
        apps.releaseShares(inPlaceOf: spool.node)
        resources.idleWakeup.signal()
    }

    /// The apps that run here and in which the node has left something.
    private func shares(of apps: AppSupervisor, in spool: Spool) -> [StandIn.App] {
        let left = spool.replay.leftBehind
        return apps.answeringRunners.compactMap { runner in
            guard let app = apps.applied(runner.name),
                left[runner.name]?.jobs.isEmpty == false || mayHaveWork(of: app, in: spool)
            else { return nil }
            do throws(DescriptorShortage) {
                return StandIn.App(configured: app, share: try apps.share(of: runner, inPlaceOf: spool.node))
            } catch {
                logger.error(
                    "app cannot stand in for a node",
                    metadata: [
                        LogKey.app: "\(runner.name)", LogKey.node: "\(spool.node)", LogKey.error: "\(error)",
                        LogKey.hint: "\(DescriptorShortage.hint)",
                    ])
                return nil
            }
        }
    }

    /// Whether a node may have left files of an app, or feedback for its hook.
    private func mayHaveWork(of app: ConfiguredApp, in spool: Spool) -> Bool {
        do {
            return try app.configuration.hook != nil || spool.hasWork(in: app.configuration.name)
        } catch {
            // To look again costs less than to leave jobs alone.
            return true
        }
    }

    // MARK: Configuration

    /// Records that the configuration has changed.
    func noteConfiguration() { isOutdated = true }

    /// Uses the configuration for other nodes' jobs, too, if it has changed.
    private func apply(_ set: ConfigurationSet) async {
        guard isOutdated else { return }
        isOutdated = false
        for standIn in standIns.values { await standIn.configure(set) }
    }

    // MARK: Operators

    /// How long another node may take to carry out a command: it may have to wait for notifications on a connection.
    private static let answerLimit = Duration.seconds(30)

    /// The runners of the apps of nodes that this daemon stands in for.
    var runners: [AppRunner] {
        get async {
            var runners: [AppRunner] = []
            for standIn in standIns.values { runners += await standIn.running }
            return runners
        }
    }

    /// Lets the other nodes carry out a command about a job that no app here has.
    ///
    /// - Returns: The answer of the node that has the job; `nil` if none has, or it does not answer.
    func carryOut(_ request: ControlRequest) async -> ControlAnswer? {
        await withTaskGroup(of: ControlAnswer?.self) { group in
            for node in live {
                group.addTask { [scout] in
                    guard let line = await scout.ask(node, request.line, within: Self.answerLimit) else { return nil }
                    return ControlAnswer(line: line)
                }
            }
            var best: ControlAnswer?
            while let answer = await group.next() {
                guard let answer, answer.kind != .notFound, best?.isGood != true else { continue }
                best = answer
                if answer.isGood { group.cancelAll() }
            }
            return best
        }
    }

    /// Carries out commands that other nodes pass on, until the task is cancelled.
    func runRequests(for daemon: Daemon) async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                let boxes = [resources.spool.requests].compactMap(\.self) + standIns.values.compactMap(\.requests)
                for request in await scout.takeRequests(from: boxes) {
                    group.addTask { [scout] in
                        let answer = await daemon.carryOut(passedOn: request.line)
                        await scout.answer(request, answer.line)
                    }
                }
                try? await resources.reactor.sleep(for: PeerScout.requestPause)
            }
        }
    }

    // MARK: Stopping

    /// How long nodes' journals may take to be released at the end.
    private static let endLimit = Duration.seconds(10)

    /// Whether no node's jobs are being finished.
    var isIdle: Bool { standIns.isEmpty }

    /// Stops standing in for other nodes, once connections have settled.
    func beginDraining() async {
        isEnding = true
        for standIn in standIns.values { await standIn.retire() }
    }

    /// Stops standing in for other nodes at once. Returns when their journals are released, or the time is up.
    func endAll() async {
        isEnding = true
        for standIn in standIns.values { await standIn.stop() }
        let deadline = ContinuousClock.now + Self.endLimit
        while !isIdle, .now < deadline {
            await resources.idleWakeup.wait(until: min(deadline, .now + .milliseconds(100)))
        }
    }
}
