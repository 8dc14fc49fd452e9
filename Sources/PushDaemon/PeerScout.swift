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
    /// The nodes whose jobs this node has finished as far as it can, with the last mark of each, and when to try again if
    /// some are left.
    private var settled: [String: (beat: JournalBeat?, retryAt: Moment?)] = [:]
    /// How long jobs wait that were left because their app did not run here, or could not be opened.
    private static let retryPause = Duration.seconds(60)
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
    /// - Parameter substituted: The nodes whose jobs this node finishes already.
    /// - Returns: The nodes that run, and those that have died.
    func look(besides substituted: Set<String>) -> Findings {
        var findings = Findings()
        do throws(SystemError) {
            for peer in try PeerFolder.all(in: spool) where peer.node != spool.node {
                guard !substituted.contains(peer.node) else { continue }
                do {
                    if let spool = try look(at: peer, &findings) { findings.dead.append(spool) }
                    if claims[peer.node] != nil { findings.hasOrphans = true }
                    reported.remove(peer.node)
                } catch {
                    claims[peer.node] = nil
                    findings.hasOrphans = true
                    report(peer.node, error)
                }
            }
        } catch {
            report("", error)
        }
        return findings
    }

    private func look(at peer: PeerFolder, _ findings: inout Findings) throws -> Spool? {
        let node = peer.node
        if claims[node] == nil {
            guard spool.mayAct else { return nil }
            switch try peer.state() {
            case .locked:
                findings.live.insert(node)
                return nil
            case .free(let beat):
                if let known = settled[node], known.beat == beat, known.retryAt.map({ .now < $0 }) ?? true {
                    return nil
                }
            }
            guard let lock = try peer.lock() else { return nil }
            // Its last mark may be newer than the one above.
            let beat = try lock.beat()
            let wait = beat?.isLast == true ? Duration.zero : terms.leaseLength
            oldRequests[node] = try peer.returnRequest()
            claims[node] = Claim(lock: lock, beat: beat, readyAt: .now + wait)
        }
        guard let claim = claims[node], claim.readyAt <= .now else { return nil }
        claims[node] = nil
        // Whatever happens, only a later life of the node makes another attempt useful.
        settled[node] = (claim.beat, nil)
        return try Spool(inPlaceOf: claim.lock, beside: spool, terms)
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
                try await Task.sleep(for: Self.requestPause)
            }
            try box.withdraw(name)
        } catch {
            report(node, error)
        }
        return nil
    }

    // MARK: Ends

    /// Records that this node has finished what it can of another node's jobs, and wrote this last mark.
    ///
    /// - Parameters:
    ///   - node: The node.
    ///   - beat: The mark.
    ///   - isThrough: Whether nothing is left. If not, it is tried again after a while.
    func noteEnd(of node: String, _ beat: JournalBeat?, isThrough: Bool) {
        settled[node] = (beat, isThrough ? nil : .now + Self.retryPause)
    }

    private func report(_ node: String, _ error: any Error) {
        guard reported.insert(node).inserted else { return }
        let hint: Logger.MetadataValue = "its jobs wait until it, or a node of its version, runs"
        logger.error(
            "another node cannot be looked after",
            metadata: [LogKey.node: "\(node)", LogKey.error: "\(error)", LogKey.hint: hint])
    }
}
