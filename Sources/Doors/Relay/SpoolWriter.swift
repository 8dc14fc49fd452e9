import APNSGateway
import APNSModel
import DoorConfiguration
import DoorModel
import JobOperations
import LinuxIO
import Logging
import SpoolClient
import SpoolModel

/// A job that a door drops.
struct DroppedJob: Sendable {
    /// The app.
    let app: String
    /// The beginning and end of the file's name.
    let name: String
    /// The content.
    let bytes: [UInt8]
    /// The records of the ids in it, for the log of ids.
    let records: [UInt8]
}

/// Writes jobs into the spool for the doors, as far as the limits allow, and reads which apps there are.
///
/// It has a thread of its own, because files block.
actor SpoolWriter {
    private let worker: WorkerThread
    private let rooms: SpoolRooms
    private let log: IDLog
    private let logger: Logger
    private var troubles: Troubles

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
        rooms = try SpoolRooms(configuration, logger)
        (self.log, self.logger) = (log, logger)
        troubles = Troubles("requests are refused", "requests are accepted again", logger)
    }

    // MARK: Jobs

    /// Drops a job: once this returns `true`, it survives a power loss.
    ///
    /// - Returns: Whether it was dropped. If not, the log says why, once for each cause.
    func drop(_ job: DroppedJob) -> Bool {
        do {
            try write(job)
        } catch {
            troubles.note("\(error)", about: job.app)
            return false
        }
        troubles.note(nil, about: job.app)
        logIDs(job.records)
        return true
    }

    /// Forgets ids whose requests may come again.
    func forget(_ keys: [RecentIDs.Key]) {
        var records: [UInt8] = []
        for key in keys { key.appendRecord(at: RecentIDs.Key.forgotten, to: &records) }
        logIDs(records)
    }

    private func logIDs(_ records: [UInt8]) {
        do {
            guard try !log.append(records) else { return }
            let hint: Logger.MetadataValue = "put it back: after a restart, repeated requests are not known"
            logger.warning("state folder was moved or replaced", metadata: [LogKey.hint: hint])
        } catch {
            logger.warning("ids cannot be logged", metadata: [LogKey.error: "\(error)"])
        }
    }

    private func write(_ job: DroppedJob) throws {
        _ = try rooms.use(job.app) { submission in try submission.submit(job.bytes, name: job.name) }
    }

    // MARK: Apps

    /// Returns the lists of apps that the daemons published; see `SpoolRooms.appLists`.
    func appLists() -> [AppList]? { rooms.appLists() }
}
