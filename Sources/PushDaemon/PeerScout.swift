import APNSGateway
import APNSModel
import JobOperations
import JournalModel
import LinuxIO
import Logging
import SpoolStore

/// Looks after the other nodes of the cluster, on a thread of its own: asking a file server may take many seconds.
///
/// When nobody has a node's journal, takes its lock, and waits until a lease that the node may still have has run out.
actor PeerScout {
    /// The lock of a node that has died, until its lease has run out.
    private struct Claim {
        let lock: JournalLock
        let beat: JournalBeat?
        let readyAt: Moment
    }

    private let spool: Spool
    private let terms: ClusterTerms
    private let worker: WorkerThread
    private let logger: Logger
    private var claims: [String: Claim] = [:]
    /// The nodes for which some node has done what it could, or whose journal could not be opened: the last mark of each,
    /// and when to try again.
    private var retries: [String: (beat: JournalBeat?, at: Moment)] = [:]
    /// How long jobs wait that were left because their app did not run, or could not be opened.
    private static let retryPause = Duration.seconds(60)
    /// The nodes that ran when they could be listed last.
    private var live: Set<String> = []
    /// The requests that were there when a journal was locked, which do not count.
    private var oldRequests: [String: ReturnRequest] = [:]
    private var reported: Set<String> = []

    init(_ spool: Spool, _ terms: ClusterTerms, _ logger: Logger) throws(SystemError) {
        (self.spool, self.terms, self.logger) = (spool, terms, logger)
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
    }

    /// Looks at all other nodes.
    ///
    /// - Parameters:
    ///   - substituted: The nodes whose jobs this node finishes already.
    ///   - mayStandIn: Whether it may take the place of others.
    /// - Returns: The nodes that run, and those that have died.
    func look(besides substituted: Set<String>, _ mayStandIn: Bool) -> Findings {
        var findings = Findings()
        do throws(SystemError) {
            for peer in try PeerFolder.all(in: spool) where peer.node != spool.node {
                guard !substituted.contains(peer.node) else { continue }
                do {
                    if let spool = try look(at: peer, mayStandIn, &findings) { findings.dead.append(spool) }
                    reported.remove(peer.node)
                } catch {
                    claims[peer.node] = nil
                    findings.hasOrphans = true
                    report(peer.node, error)
                }
            }
            live = findings.live
        } catch {
            findings.live = live
            findings.hasOrphans = true
            report("", error)
        }
        return findings
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
                if mayStandIn, spool.mayAct, mayTry(node, after: beat) { claims[node] = try claim(peer) }
            }
        }
        findings.hasOrphans = true
        guard let claim = claims[node], claim.readyAt <= .now else { return nil }
        claims[node] = nil
        // The journal may be one of another version, or there may be no room for now.
        retries[node] = (claim.beat, .now + Self.retryPause)
        return try Spool(inPlaceOf: claim.lock, beside: spool, terms)
    }

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
        // A torn mark does not tell the length.
        let wait = beat?.end == nil ? beat?.lease ?? terms.leaseLength : .zero
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
            report(node, error)
            return false
        }
    }

    // MARK: Operators' commands

    /// How often a node looks for requests of others, and for answers.
    static let requestPause = Duration.milliseconds(250)

    /// A request of another node.
    struct Request: Sendable {
        let box: RequestBox
        let name: String
        let line: [UInt8]
    }

    /// Removes and returns the requests in these boxes.
    func takeRequests(from boxes: [RequestBox]) -> [Request] {
        guard spool.mayAct else { return [] }
        do throws(SystemError) {
            var requests: [Request] = []
            for box in boxes {
                requests += try box.takeRequests().map { Request(box: box, name: $0.name, line: $0.request) }
            }
            return requests
        } catch {
            report(spool.node, error)
            return []
        }
    }

    /// Answers a request.
    func answer(_ request: Request, _ line: [UInt8]) {
        do throws(SystemError) {
            try request.box.answer(request.name, line)
        } catch {
            report(spool.node, error)
        }
    }

    /// Asks a node, and waits for its answer.
    ///
    /// - Returns: `nil` if it does not answer in time.
    func ask(_ node: String, _ line: [UInt8], within limit: Duration) async -> [UInt8]? {
        do {
            guard let peer = try PeerFolder(node, of: spool) else { return nil }
            let (box, deadline) = (try peer.requests(), ContinuousClock.now + limit)
            let name = try box.ask(line)
            while .now < deadline {
                if let answer = try box.takeAnswer(to: name) { return answer }
                guard !Task.isCancelled else { break }
                try? await Task.sleep(for: Self.requestPause)
            }
            try box.withdraw(name)
        } catch {
            report(node, error)
        }
        return nil
    }

    private func report(_ node: String, _ error: any Error) {
        guard reported.insert(node).inserted else { return }
        let hint: Logger.MetadataValue = "its jobs wait until it, or a node of its version, runs"
        logger.error(
            "another node cannot be looked after",
            metadata: [LogKey.node: "\(node)", LogKey.error: "\(error)", LogKey.hint: hint])
    }
}
