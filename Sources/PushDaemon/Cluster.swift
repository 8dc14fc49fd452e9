import AppEngine
import Configuration
import JobOperations
import JournalModel
import LinuxIO
import Logging
import ServiceProcess
import SharedResources
import SpoolModel
import SpoolStore

/// The daemon's part beside other nodes: which ones run, and the nodes whose jobs it finishes. A daemon that works alone
/// finishes the jobs that were left under another node name.
final class Cluster {
    private let resources: DaemonResources
    private let logger: Logger
    private let scout: PeerScout
    private let pause: Duration
    /// The other nodes that run, or whose jobs another node finishes.
    private var live: Set<String> = []
    private var standIns: [String: StandIn] = [:]
    /// The nodes that have died, and whose jobs nobody finishes yet.
    private var orphans: Set<String> = []
    private var isEnding = false
    private var isOutdated = false
    /// The nodes that do not run and have jobs, and why these were reported to wait.
    private(set) var left: [SpoolStatus.LeftNode] = []
    private var reported: [String: String] = [:]

    /// Creates the part.
    ///
    /// - Throws: `SystemError`: no thread is left, or the filesystem does not answer.
    init(_ resources: DaemonResources, _ configuration: DaemonConfiguration) throws(SystemError) {
        (self.resources, logger) = (resources, resources.logger)
        let terms = configuration.cluster
        pause = terms.map { $0.leaseLength / 4 } ?? configuration.intake.rescan
        let type = try resources.spool.root.filesystemType()
        let untrusted = terms == nil && type.isShared ? "\(type)" : nil
        scout = try PeerScout(resources.spool, terms, untrusted: untrusted, resources.logger)
    }

    private var isAlone: Bool { resources.cluster == nil }

    /// Takes the places of the nodes that do not run, before the apps start. Their jobs are finished when the apps have started.
    ///
    /// - Parameter apps: The apps.
    func prepare(_ apps: AppSupervisor) async {
        guard isAlone else { return }
        waiting = await look(true)
        for spool in waiting { apps.expect(jobsOf: spool.node) }
        isPrepared = true
    }

    private var isPrepared = false

    /// The nodes whose places were taken before the apps started.
    private var waiting: [Spool] = []

    /// Looks after the other nodes until the task is cancelled.
    ///
    /// - Parameters:
    ///   - daemon: Finishes the jobs of those that have died, and carries out what others pass on.
    ///   - configuration: The configuration.
    func run(for daemon: Daemon, _ configuration: ConfigurationKeeper) async {
        await withDiscardingTaskGroup { group in
            if !isAlone { group.addTask { await daemon.runRequests() } }
            let start = ContinuousClock.now
            while !Task.isCancelled {
                // An app that hangs while it is opened must not keep the jobs of all others waiting.
                let isReady = await daemon.haveAppsStarted || .now - start > Self.startLimit
                for spool in await takeOver(isReady) { group.addTask { await daemon.standIn(for: spool) } }
                await apply(configuration.current)
                // Not at the same time as other nodes.
                let hasOrphans = !isReady && resources.nodes.hasOrphans
                let isUrgent = isAlone && (!isPrepared || !waiting.isEmpty || hasOrphans)
                let pause = isUrgent ? min(pause, Self.startPause) : pause
                try? await resources.reactor.sleep(for: pause * Double.random(in: 0.75...1.25))
            }
        }
    }

    /// How long this daemon's own apps may take to start before it looks after others' jobs without them.
    private static let startLimit = Duration.seconds(60)
    /// How often it checks whether they have.
    private static let startPause = Duration.milliseconds(100)

    /// Returns the nodes whose jobs are to be finished now.
    private func takeOver(_ isReady: Bool) async -> [Spool] {
        guard isPrepared || !isAlone else { return [] }
        guard !waiting.isEmpty else { return await look(isReady) }
        guard isReady, !isEnding else { return [] }
        defer { waiting = [] }
        return waiting
    }

    /// Looks at the other nodes. Returns those that have died, opened in their place.
    private func look(_ mayStandIn: Bool) async -> [Spool] {
        guard !isEnding else { return [] }
        let findings = await scout.look(besides: Set(standIns.keys), mayStandIn)
        note(findings.left)
        if findings.live != live {
            let names = findings.live.sorted().joined(separator: " ")
            logger.notice("other nodes that run", metadata: [LogKey.node: "\(names)"])
        }
        (live, orphans) = (findings.live, findings.orphans)
        noteSenders(hasOrphans: findings.hasOrphans)
        return isEnding ? [] : findings.dead
    }

    /// Records among how many nodes an app's rate is divided.
    private func noteSenders(hasOrphans: Bool) {
        let running = isAlone ? [] : live
        resources.nodes.note(others: running.union(standIns.keys), hasOrphans: hasOrphans)
    }

    /// Records the nodes that do not run and have jobs, and logs once why these wait.
    private func note(_ left: [SpoolStatus.LeftNode]) {
        if left != self.left { resources.statusWakeup.signal() }
        self.left = left
        reported = reported.filter { node, reason in left.contains { $0.node == node && $0.reason == reason } }
        for node in left where node.reason != nil && reported.updateValue(node.reason ?? "", forKey: node.node) == nil {
            logger.warning(
                "jobs of another node wait",
                metadata: [
                    LogKey.node: "\(node.node)", LogKey.jobs: "\(node.jobCount)", LogKey.error: "\(node.reason ?? "")",
                    LogKey.hint: "\(node.hint ?? "")",
                ])
        }
    }

    /// This daemon's part in the cluster, for its status; `nil` if it works alone.
    var shown: SpoolStatus.Cluster? {
        resources.cluster.map { view in
            SpoolStatus.Cluster(
                nodes: view.nodes, standsInFor: standIns.keys.sorted(), mayAct: resources.spool.mayAct)
        }
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
            let shares = shares(of: apps, in: spool)
            if try isAlone && shares.isEmpty && !spool.isFinished() {
                try giveBack(spool)
            } else {
                try await standIn(for: spool, shares, set.daemon)
            }
        } catch {
            logger.error(
                "cannot stand in for a node", metadata: [LogKey.node: "\(spool.node)", LogKey.error: "\(error)"])
        }
        standIns[spool.node] = nil
        left.removeAll { $0.node == spool.node && $0.reason == nil }
        noteSenders(hasOrphans: resources.nodes.hasOrphans)
        apps.releaseShares(inPlaceOf: spool.node)
        resources.statusWakeup.signal()
        resources.idleWakeup.signal()
    }

    private func standIn(for spool: Spool, _ shares: [StandIn.App], _ configuration: DaemonConfiguration) async throws {
        let standIn = try StandIn(for: spool, resources)
        standIns[spool.node] = standIn
        reportBeginning(of: spool.node)
        noteSenders(hasOrphans: resources.nodes.hasOrphans)
        await withDiscardingTaskGroup { group in
            if !isAlone {
                group.addTask { [scout, pause, reactor = resources.reactor] in
                    while !Task.isCancelled {
                        if await scout.isAskedFor(standIn.node) { await standIn.retire() }
                        try? await reactor.sleep(for: pause)
                    }
                }
            }
            await standIn.run(shares, configuration)
            group.cancelAll()
        }
        logger.notice("no longer standing in for a node", metadata: [LogKey.node: "\(spool.node)"])
    }

    /// Ends the use of a journal with which nothing was done.
    private func giveBack(_ spool: Spool) throws(JournalFault) {
        try spool.append(.stopped)
        try spool.journal.flush()
        try spool.leave(.triedAll)
    }

    private func reportBeginning(of node: String) {
        let message =
            isAlone
            ? "jobs of node \(node) taken over: its journal is not in use" : "standing in for a node that died"
        logger.notice("\(message)", metadata: [LogKey.node: "\(node)"])
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
            return try app.configuration.hook != nil || spool.hasWork(in: app.configuration.name, of: spool.node)
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
        await scout.forgetTries()
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
    /// - Returns: The answer of the node that has the job, or the answer that it does not answer; `nil` if none has the job.
    func carryOut(_ request: ControlRequest, _ reference: JobReference) async -> ControlAnswer? {
        var (answer, silent): (ControlAnswer?, Set<String>) = (nil, [])
        if !isAlone { (answer, silent) = await askAll(request) }
        if let answer { return answer }
        let job = await scout.foreignJob(reference, besides: Set(standIns.keys))
        if let job, let node = left.first(where: { $0.node == job.node }), let reason = node.reason {
            return job.answer(reason, hint: node.hint ?? "")
        }
        let hint = "try again: if that node does not run, its jobs are taken over; see pushspool status"
        if let job, isAlone || silent.contains(job.node) || !live.union(orphans).contains(job.node) {
            return job.answer("its daemon does not answer", hint: hint)
        }
        guard !silent.isEmpty else { return nil }
        let names = silent.sorted().joined(separator: ", ")
        return ControlAnswer(.unanswered, "no node that answers has such a job, and these do not: \(names)", hint: hint)
    }

    /// Asks all other nodes to carry out a command.
    ///
    /// - Returns: The answer of the node that has the job, and the nodes that do not answer in time.
    private func askAll(_ request: ControlRequest) async -> (answer: ControlAnswer?, silent: Set<String>) {
        await withTaskGroup(of: (String, ControlAnswer?).self) { group in
            for node in live.union(orphans) {
                group.addTask { [scout] in
                    guard let line = await scout.ask(node, request.line, within: Self.answerLimit) else {
                        return (node, nil)
                    }
                    return (node, ControlAnswer(line: line))
                }
            }
            var (best, silent): (ControlAnswer?, Set<String>) = (nil, [])
            while let (node, answer) = await group.next() {
                if answer == nil { silent.insert(node) }
                guard let answer, answer.kind != .notFound, best?.isGood != true else { continue }
                best = answer
                if answer.isGood { group.cancelAll() }
            }
            return (answer: best, silent: silent)
        }
    }

    /// Carries out commands that other nodes pass on, until the task is cancelled.
    func runRequests(for daemon: Daemon) async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                let boxes = [resources.spool.requests].compactMap(\.self) + standIns.values.compactMap(\.requests)
                for request in await scout.takeRequests(from: boxes) {
                    group.addTask { [scout] in
                        let answer = await daemon.answer(passedOn: request.line)
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
        do throws(JournalFault) {
            for spool in waiting { try giveBack(spool) }
        } catch {
            logger.error("a node's journal cannot be closed", metadata: [LogKey.error: "\(error)"])
        }
        waiting = []
        let deadline = ContinuousClock.now + Self.endLimit
        while !isIdle, .now < deadline {
            await resources.idleWakeup.wait(until: min(deadline, .now + .milliseconds(100)))
        }
    }
}
