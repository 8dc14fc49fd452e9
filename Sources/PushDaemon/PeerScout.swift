import APNSModel
import JobOperations
import JournalModel
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SpoolModel
import SpoolStore

/// Looks after the other nodes on the spool, on a thread of its own: asking a file server may take many seconds.
///
/// When nobody has a node's journal, takes its lock, and waits until a lease that the node may still have has run out. A
/// daemon that works alone does so only on a filesystem of its host, where a lock ends with its process.
actor PeerScout {
    /// The lock of a node that has died, until its lease has run out.
    private struct Claim {
        let lock: JournalLock
        let beat: JournalBeat?
        let readyAt: Moment
    }

    private let spool: Spool
    /// `nil` if the daemon works alone.
    private let terms: ClusterTerms?
    /// The type of the filesystem if its locks do not show whether a node runs.
    private let untrusted: String?
    private let worker: WorkerThread
    private let logger: Logger
    private var claims: [String: Claim] = [:]
    /// The nodes for which some node has done what it could, or whose journal could not be opened: the last mark of each,
    /// and when to try again.
    private var retries: [String: (beat: JournalBeat?, at: Moment)] = [:]
    /// How long jobs wait that were left because their app did not run, or could not be opened.
    private static let retryPause = Duration.seconds(60)
    /// The same for a daemon that works alone: nobody else may have changed anything, and a journal takes long to read.
    private static let aloneRetryPause = Duration.seconds(600)
    /// The nodes that ran when they could be listed last.
    private var live: Set<String> = []
    /// The requests that were there when a journal was locked, which do not count.
    private var oldRequests: [String: ReturnRequest] = [:]
    private var reported: Set<String> = []
    /// Why the journals of nodes could not be used.
    private var failures: [String: SpoolStatus.LeftNode.Reason] = [:]
    /// The nodes that had a journal when they could be listed last.
    private var known: Set<String> = []
    /// When to count the jobs of nodes that do not run, and those that were found.
    private var nextCount = Moment.zero
    private var left: [SpoolStatus.LeftNode] = []

    /// Creates a scout.
    ///
    /// - Parameters:
    ///   - spool: The spool.
    ///   - terms: The terms of the cluster; `nil` if the daemon works alone.
    ///   - untrusted: The type of the filesystem if its locks do not show whether a node runs.
    ///   - logger: The logger.
    /// - Throws: `SystemError`: no thread is left.
    init(_ spool: Spool, _ terms: ClusterTerms?, untrusted: String?, _ logger: Logger) throws(SystemError) {
        (self.spool, self.terms, self.untrusted, self.logger) = (spool, terms, untrusted, logger)
        worker = try WorkerThread(name: "peers")
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// What a look at the other nodes has found.
    struct Findings: Sendable {
        /// The nodes whose journal is locked, without this node.
        var live: Set<String> = []
        /// The nodes that have died, opened in their place.
        var dead: [Spool] = []
        /// Whether others have died whose jobs nobody has finished yet.
        var hasOrphans = false
        /// The nodes among them that were found.
        var orphans: Set<String> = []
        /// The nodes that do not run and have jobs, as they were counted last.
        var left: [SpoolStatus.LeftNode] = []
    }

    /// The most nodes whose jobs a daemon that works alone finishes at the same time: each takes descriptors.
    private static let aloneLimit = 8

    /// Looks at all other nodes.
    ///
    /// - Parameters:
    ///   - substituted: The nodes whose jobs this node finishes already.
    ///   - mayStandIn: Whether it may take the place of others.
    /// - Returns: The nodes that run, and those that have died.
    func look(besides substituted: Set<String>, _ mayStandIn: Bool) -> Findings {
        var findings = Findings()
        do throws(SystemError) {
            let peers = try PeerFolder.all(in: spool).filter { $0.node != spool.node }
            known = Set(peers.map(\.node))
            for peer in peers where !substituted.contains(peer.node) {
                do {
                    let isFull = terms == nil && substituted.count + findings.dead.count >= Self.aloneLimit
                    if let spool = try look(at: peer, mayStandIn && !isFull, &findings) {
                        findings.dead.append(spool)
                        failures[peer.node] = nil
                    }
                    reported.remove(peer.node)
                } catch {
                    claims[peer.node] = nil
                    findings.hasOrphans = true
                    findings.orphans.insert(peer.node)
                    let reason = SpoolStatus.LeftNode.Reason(error)
                    failures[peer.node] = reason
                    report(peer.node, reason.words, reason.hint(for: peer.node))
                }
            }
            live = findings.live
            try countLeft(besides: substituted.union(findings.dead.map(\.node)))
        } catch {
            findings.live = live
            findings.hasOrphans = true
            report("", "\(error)", "check .pushspool/ in the spool")
        }
        findings.left = left
        return findings
    }

    /// How often the jobs of nodes that do not run are counted.
    private static let countPause = Duration.seconds(10)

    /// Counts the jobs of nodes that do not run, and determines why they wait.
    private func countLeft(besides substituted: Set<String>) throws(SystemError) {
        // Those that have gone over to this daemon since, or come back, do not wait any more.
        left.removeAll { live.contains($0.node) || ($0.reason != nil) == substituted.contains($0.node) }
        guard nextCount <= .now else { return }
        nextCount = .now + Self.countPause
        left = []
        let counts = try QueueListing.claimedCounts(in: spool.root)
        for (node, count) in counts.sorted(by: { $0.key < $1.key }) where node != spool.node && !live.contains(node) {
            let reason = reason(whyJobsWaitOf: node)
            guard substituted.contains(node) || reason != nil else { continue }
            left.append(SpoolStatus.LeftNode(node: node, jobCount: count, substituted.contains(node) ? nil : reason))
        }
    }

    /// Why nobody finishes the jobs of a node; `nil` if somebody will soon.
    private func reason(whyJobsWaitOf node: String) -> SpoolStatus.LeftNode.Reason? {
        if !known.contains(node) { return .noJournal }
        if let untrusted { return .untrustedLocks(untrusted) }
        if let reason = failures[node] { return reason }
        return retries[node] == nil ? nil : .failed("no app that runs here could finish them")
    }

    private func look(at peer: PeerFolder, _ mayStandIn: Bool, _ findings: inout Findings) throws -> Spool? {
        let node = peer.node
        if claims[node] == nil {
            switch try peer.state() {
            case .locked:
                findings.live.insert(node)
                return nil
            case .free(let beat) where beat?.end == .finishedAll: return nil
            case .free(let beat):
                guard untrusted == nil else { return nil }
                if mayStandIn, spool.mayAct, mayTry(node, after: beat) { claims[node] = try claim(peer) }
            }
        }
        findings.orphans.insert(node)
        // What a daemon that works alone has tried in vain must not keep old files from being deleted for ever.
        findings.hasOrphans = findings.hasOrphans || terms != nil || retries[node] == nil
        guard let claim = claims[node], claim.readyAt <= .now else { return nil }
        claims[node] = nil
        // The journal may be one of another version, or there may be no room for now.
        retries[node] = (claim.beat, .now + (terms == nil ? Self.aloneRetryPause : Self.retryPause))
        // The jobs of a node of a cluster are finished as one would: another may have some of them.
        let wasClustered = claim.beat.map { $0.end != .alone } ?? false
        return try Spool(inPlaceOf: claim.lock, beside: spool, terms ?? (wasClustered ? ClusterTerms() : nil))
    }

    /// Tries again to finish what was left, because the configuration has changed.
    func forgetTries() { retries = [:] }

    /// Whether to take the place of a node whose last mark is this one: after some node has tried, not before a pause.
    private func mayTry(_ node: String, after beat: JournalBeat?) -> Bool {
        if let known = retries[node], known.beat == beat { return known.at <= .now }
        guard beat?.end == .triedAll else { return true }
        retries[node] = (beat, .now + Self.retryPause)
        return false
    }

    /// Locks a node's journal; `nil` if somebody else has, or nothing is left in it.
    private func claim(_ peer: PeerFolder) throws -> Claim? {
        guard let lock = try peer.lock() else { return nil }
        // Its last mark may be newer than the one that was seen before.
        let beat = try lock.beat()
        guard beat?.end != .finishedAll else { return nil }
        oldRequests[peer.node] = try peer.returnRequest()
        // A torn mark does not tell the length. Beside a daemon that works alone, the lock has ended with the process.
        let wait = beat?.end == nil ? terms.map { beat?.lease ?? $0.leaseLength } ?? .zero : .zero
        return Claim(lock: lock, beat: beat, readyAt: .now + wait)
    }

    /// Whether a node asks for its journal back.
    func isAskedFor(_ node: String) -> Bool {
        do throws(SystemError) {
            guard let peer = try PeerFolder(node, of: spool) else { return false }
            guard let request = try peer.returnRequest() else { return false }
            return request != oldRequests[node]
        } catch {
            // The next look asks again.
            report(node, "\(error)")
            return false
        }
    }

    // MARK: Operators' commands

    /// Finds the job that an operator means in `work/` of other nodes.
    ///
    /// - Returns: `nil` if it is not there, or no folder can be read, which is reported.
    func foreignJob(_ reference: JobReference, besides nodes: Set<String>) -> ForeignJob? {
        do throws(SystemError) {
            return try ForeignJob(reference, in: spool.root, besides: nodes.union([spool.node]))
        } catch {
            report("", "\(error)", "check .pushspool/ in the spool")
            return nil
        }
    }

    /// How often a node looks for requests of others, and for answers.
    static let requestPause = Duration.milliseconds(250)

    /// A request of another node.
    struct Request: Sendable {
        let box: RequestBox
        let name: String
        let line: [UInt8]
    }

    /// Removes and returns the requests in these boxes, and removes answers that nobody has taken in a minute.
    func takeRequests(from boxes: [RequestBox], at now: Moment = .now) -> [Request] {
        guard spool.mayAct else { return [] }
        do throws(SystemError) {
            var requests: [Request] = []
            try removeOldAnswers(from: boxes, at: now)
            for box in boxes {
                requests += try box.takeRequests().map { Request(box: box, name: $0.name, line: $0.request) }
            }
            return requests
        } catch {
            report(spool.node, "\(error)")
            return []
        }
    }

    /// How long an answer waits for the node that asked.
    private static let answerLimit = Duration.seconds(60)
    /// The answers that nobody has taken yet, and since when they have been seen.
    private var answers: [String: Moment] = [:]
    private var nextRemoval = Moment.zero

    /// Removes answers for which nobody waits any more.
    private func removeOldAnswers(from boxes: [RequestBox], at now: Moment) throws(SystemError) {
        guard nextRemoval <= now else { return }
        nextRemoval = now + Self.answerLimit / 4
        var seen: [String: Moment] = [:]
        for box in boxes {
            for name in try box.answered() {
                let since = answers[name] ?? now
                if since + Self.answerLimit <= now { _ = try box.takeAnswer(to: name) } else { seen[name] = since }
            }
        }
        answers = seen
    }

    /// Answers a request.
    func answer(_ request: Request, _ line: [UInt8]) {
        do throws(SystemError) {
            try request.box.answer(request.name, line)
        } catch {
            report(spool.node, "\(error)")
        }
    }

    /// Asks a node, and waits for its answer. If another node takes its place meanwhile, asks that one.
    ///
    /// - Returns: `nil` if it does not answer in time.
    func ask(_ node: String, _ line: [UInt8], within limit: Duration) async -> [UInt8]? {
        do {
            guard let peer = try PeerFolder(node, of: spool) else { return nil }
            let (box, deadline) = (try peer.requests(), ContinuousClock.now + limit)
            var name = try box.ask(line)
            while .now < deadline {
                if let answer = try box.takeAnswer(to: name) {
                    guard answer == RequestBox.again else { return answer }
                    name = try box.ask(line)
                }
                guard !Task.isCancelled else { break }
                try? await Task.sleep(for: Self.requestPause)
            }
            try box.withdraw(name)
        } catch {
            report(node, "\(error)")
        }
        return nil
    }

    /// Logs once what failed for a node, or for all of them if it has no name.
    private func report(_ node: String, _ error: String, _ hint: String = "the next look tries again") {
        guard reported.insert(node).inserted else { return }
        var metadata: Logger.Metadata = [LogKey.error: "\(error)", LogKey.hint: "\(hint)"]
        guard !node.isEmpty else { return logger.error("other nodes cannot be listed", metadata: metadata) }
        metadata[LogKey.node] = "\(node)"
        logger.error("another node cannot be looked after", metadata: metadata)
    }
}

extension SpoolStatus.LeftNode.Reason {
    /// Creates the reason from an error with a node's journal. The remedies in a fault are for that node's own daemon.
    fileprivate init(_ error: any Error) {
        if let fault = error as? SpoolFault, fault.cause == nil {
            self = .unusableJournal(fault.message)
        } else {
            self = .failed("\(error)")
        }
    }
}
