import Configuration
import DoorModel
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SpoolClient
import SpoolModel

/// A job that a door drops.
struct DroppedJob: Sendable {
    /// The requests, each with its id if the client may repeat it.
    let group: UnansweredRequests.Group
    /// Whether the feedback about it must have each acceptance, too.
    let recordsAll: Bool

    /// The content with the requests at these places only.
    fileprivate func bytes(_ places: [Int]) -> [UInt8] {
        guard group.isOfLines else { return group.bytes }
        let record = recordsAll ? ",\"record\":\"all\"" : ""
        return Array("{\"job\":{\"count\":\(places.count)\(record)}}\n".utf8) + group.picking(places).bytes
    }
}

/// What became of the requests of a job, by their places.
struct DropResult: Sendable {
    /// The file of the job; empty if none was dropped.
    var job = ""
    /// Those that were dropped, and survive a power loss.
    var dropped: [Int] = []
    /// Those that another door has dropped.
    var repeated: [Int] = []
    /// Those that another door may be dropping at this moment: try again a little later.
    var claimed: [Int] = []
    /// Those that cannot be dropped now. The log says why, once for each cause.
    var failed: [Int] = []
}

/// Writes jobs into the spool for the doors, as far as the limits allow, and reads which apps there are.
///
/// It has a thread of its own, because files block.
actor SpoolWriter {
    private let worker: WorkerThread
    private let access: SpoolAccess
    private let log: IDLog
    /// Records that could not be logged, and that must be before anything else is dropped.
    private var owed: [UInt8] = []
    /// The ids that the doors of a cluster share, by app.
    private var shared: [String: SharedIDs] = [:]
    private var isCluster = false
    private let lifetime: Duration
    private let logger: Logger
    private var troubles: (jobs: Troubles, ids: Troubles)

    private static let remedy =
        "make `state` a folder that this user may write: without its files, a restart forgets which requests came"

    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// Opens the spool and the log of ids. Blocks.
    ///
    /// - Returns: The writer, and the ids that were spooled lately.
    /// - Throws: `SystemError`: the spool or the state folder cannot be used, or there is no thread left.
    static func open(
        _ configuration: DoorConfiguration, _ logger: Logger
    ) throws(SystemError) -> (writer: SpoolWriter, known: [(key: RecentIDs.Key, time: WallTime)]) {
        let state = try Directory.open(path: configuration.state)
        let lifetime = configuration.relay?.dedupe ?? .zero
        let (log, known) = try IDLog.open(in: state, lifetime: lifetime)
        return (try SpoolWriter(configuration, log, logger), known)
    }

    private init(
        _ configuration: DoorConfiguration, _ log: sending IDLog, _ logger: Logger
    ) throws(SystemError) {
        worker = try WorkerThread(name: "spool")
        access = try SpoolAccess(configuration, logger)
        (self.log, self.logger) = (log, logger)
        lifetime = configuration.relay?.dedupe ?? .zero
        troubles = (
            Troubles(("requests are refused", "requests are accepted again"), logger),
            Troubles(("ids cannot be logged", "ids are logged again"), hint: Self.remedy, logger)
        )
    }

    // MARK: Jobs

    /// Drops the requests of a job that no other door has dropped.
    func drop(_ job: DroppedJob) -> DropResult {
        let app = job.group.app
        var result = DropResult()
        do {
            try write(job, &result)
        } catch {
            troubles.jobs.note(error, about: app)
            let claimed = result.dropped.compactMap { job.group.requests[$0].key }
            keep(of: app) { () throws(SystemError) in try shared[app]?.withdraw(claimed) }
            return DropResult(failed: Array(job.group.requests.indices))
        }
        troubles.jobs.note(nil, about: app)
        let keys = result.dropped.compactMap { job.group.requests[$0].key }
        conclude(keys, of: app, .now)
        return result
    }

    /// Forgets ids of an app whose requests may come again.
    func forget(_ keys: [RecentIDs.Key], of app: String) { conclude(keys, of: app, RecentIDs.Key.forgotten) }

    /// Logs what became of ids.
    private func conclude(_ keys: [RecentIDs.Key], of app: String, _ time: WallTime) {
        guard !keys.isEmpty else { return }
        keep(of: app) { () throws(SystemError) in try shared[app]?.conclude(keys, time) }
        for key in keys { key.appendRecord(at: time, to: &owed) }
        keep { () throws(SystemError) in try settle() }
    }

    /// Logs the ids that are not logged yet.
    ///
    /// - Throws: `SystemError`: there is no folder for ids, or they cannot be written.
    private func settle() throws(SystemError) {
        if try !log.append(owed) {
            let hint: Logger.MetadataValue = "put it back: after a restart, repeated requests are not known"
            logger.warning("state folder was moved or replaced", metadata: [LogKey.hint: hint])
        }
        owed = []
    }

    /// Keeps ids with `body`, or logs why they were not kept: those of an app for other doors, otherwise those of this one.
    private func keep(of app: String = "", _ body: () throws(SystemError) -> Void) {
        do throws(SystemError) {
            try body()
            troubles.ids.note(nil, about: app)
        } catch {
            troubles.ids.note(error, about: app)
        }
    }

    private func write(_ job: DroppedJob, _ result: inout DropResult) throws {
        do throws(SystemError) {
            // Otherwise the next start would not know the ids of what is dropped.
            try settle()
        } catch {
            throw DoorTrouble("ids cannot be logged: \(error); \(Self.remedy)")
        }
        try access.use(job.group.app) { submission in
            let staged = try submission.begin(job.group.isOfLines ? "relay.jsonl" : "relay.json")
            try sort(job.group, into: &result)
            guard !result.dropped.isEmpty else { return }
            try staged.append(job.bytes(result.dropped))
            result.job = try staged.publish()
        }
    }

    /// Finds out which requests other doors have dropped, and claims the ids of the rest. Those are in `dropped` then.
    private func sort(_ group: UnansweredRequests.Group, into result: inout DropResult) throws {
        let keys = group.requests.compactMap(\.key)
        var standings: [RecentIDs.Key: PeerIDs.Standing] = [:]
        if !keys.isEmpty, let ids = try sharedIDs(of: group.app) { standings = try ids.claim(keys, at: .now) }
        for (place, request) in group.requests.enumerated() {
            switch request.key.flatMap({ standings[$0] }) ?? .free {
            case .free: result.dropped.append(place)
            case .claimed: result.claimed.append(place)
            case .sent: result.repeated.append(place)
            }
        }
    }

    /// Returns the ids that the doors of a cluster share; `nil` if the daemon works alone.
    private func sharedIDs(of app: String) throws -> SharedIDs? {
        guard isCluster else { return nil }
        if let known = shared[app], try known.isThere { return known }
        let ids = try SharedIDs(in: try access.openTmp(of: app), lifetime: lifetime)
        shared[app] = ids
        return ids
    }

    // MARK: Apps

    /// Reads the lists of apps that the daemons published; see `SpoolAccess.router`.
    func router() -> AppRouter? {
        let router = access.router()
        if let router { isCluster = router.isOfCluster }
        return router
    }
}
