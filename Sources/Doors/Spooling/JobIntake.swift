import Configuration
import Document
import DoorModel
import JobFormat
import JobOperations
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SpoolClient
import SpoolModel
import SpoolStore

/// Accepts whole jobs: writes each beside the spool's `new/`, reads it as the daemon will, and drops it if it is good.
///
/// It has a thread of its own, because files block, and long jobs take long to read.
actor JobIntake {
    /// What became of a job.
    enum Result: Sendable {
        /// It was dropped, and survives a power loss.
        case dropped(Receipt)
        /// The daemon would refuse it; nothing was dropped.
        case refused([Diagnostic])
        /// It cannot be taken now, and a later try may succeed. Nothing was dropped, unless the log says to look for it.
        case unavailable

        /// How many recipients were dropped.
        var recipientCount: Int { if case .dropped(let receipt) = self { receipt.recipientCount } else { 0 } }
    }

    /// What is known of a job that was dropped.
    struct Receipt: Sendable {
        /// The name of its file.
        let name: String
        /// The number of recipients.
        let recipientCount: Int
        /// How many of them the daemon will not send to.
        let rejectedCount: Int
        /// What is wrong with those, and other findings.
        let diagnostics: [Diagnostic]
        /// How long it took to check and to drop it.
        let time: Duration

        /// The same without what is wrong.
        var withoutFindings: Receipt {
            Receipt(
                name: name, recipientCount: recipientCount, rejectedCount: rejectedCount, diagnostics: [], time: time)
        }
    }

    /// The app of a job, and the limits of its daemon.
    struct Target: Sendable {
        let app: AppList.App
        let limits: DocumentLimits

        /// Why clients that know only Apple's gateway cannot use the app; `nil` if they can.
        var refusalToAppleClients: String? {
            guard app.carrier == .fcm else { return nil }
            return "\(app.name) is an FCM app, and this door pushes to Apple's devices only; use the JSON door"
        }
    }

    private let worker: WorkerThread
    private let access: SpoolAccess
    private var staged: [Int: (job: StagedJob, app: String)] = [:]
    private var lastNumber = 0
    private var known: (targets: [String: Target], router: AppRouter, readAt: Moment)?
    private var troubles: Troubles

    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// How long the list of apps is not read again.
    private static let freshness = Duration.seconds(1)
    /// How many findings of a job are told.
    private static let diagnosticLimit = 100

    /// Opens the spool. Blocks.
    ///
    /// - Throws: `SystemError`: the spool cannot be used, or there is no thread left.
    init(_ configuration: DoorConfiguration, _ logger: Logger) throws(SystemError) {
        worker = try WorkerThread(name: "jobs")
        access = try SpoolAccess(configuration, logger)
        troubles = Troubles(("jobs are refused", "jobs are accepted again"), logger)
    }

    // MARK: Apps

    /// Returns an app.
    ///
    /// - Parameters:
    ///   - app: Its name.
    ///   - isFresh: Whether the list of apps must be read now.
    /// - Returns: `nil` if there is no such app.
    /// - Throws: `DoorTrouble`: it is not known yet which apps there are.
    func target(_ app: String, isFresh: Bool = false) throws -> Target? {
        try look(isFresh: isFresh)
        return known?.targets[app]
    }

    /// Returns the router over all apps.
    ///
    /// - Throws: `DoorTrouble`: it is not known yet which apps there are.
    func router() throws -> AppRouter {
        try look()
        return known?.router ?? AppRouter([])
    }

    /// Reads the lists of apps, if they have not been read lately. If they cannot be read, the last ones stay.
    private func look(isFresh: Bool = false) throws {
        if !isFresh, let known, Moment.now - known.readAt < Self.freshness { return }
        guard let router = access.router() else {
            guard known == nil else { return }
            throw DoorTrouble("it is not known which apps there are; start the daemon")
        }
        let targets = router.apps.map { ($0.name, Target(app: $0, limits: router.limits)) }
        known = (Dictionary(targets) { first, _ in first }, router, .now)
    }

    /// Writes the files of an app.
    ///
    /// - Throws: Errors of `AppFiles`.
    func write(_ provision: Provision, to folder: String) throws {
        try AppFiles(folder).write(provision)
    }

    // MARK: Jobs

    /// Drops a job that is complete.
    ///
    /// - Parameters:
    ///   - bytes: The job.
    ///   - name: The beginning and end of the file's name.
    ///   - target: The app.
    ///   - isAllOrNothing: Whether one bad recipient makes the job bad.
    /// - Returns: What became of it.
    func drop(_ bytes: [UInt8], as name: String, for target: Target, isAllOrNothing: Bool) -> Result {
        guard let number = begin(name, for: target) else { return .unavailable }
        guard append(bytes, to: number) else { return .unavailable }
        return finish(number, for: target, isAllOrNothing: isAllOrNothing)
    }

    /// Begins a job that arrives bit by bit.
    ///
    /// - Returns: A number for it; `nil` if no job can be accepted now.
    func begin(_ name: String, for target: Target) -> Int? {
        do {
            let job = try access.use(target.app.name) { try $0.begin(name) }
            lastNumber += 1
            staged[lastNumber] = (job, target.app.name)
            return lastNumber
        } catch {
            troubles.note(error, about: target.app.name)
            return nil
        }
    }

    /// Appends bytes to a job.
    ///
    /// - Returns: Whether they were written. If not, the job is given up.
    func append(_ bytes: [UInt8], to number: Int) -> Bool {
        guard let (job, app) = staged[number] else { return false }
        do {
            try access.requireSpace()
            try job.append(bytes)
            return true
        } catch {
            staged[number] = nil
            troubles.note(error, about: app)
            return false
        }
    }

    /// Reads a job that has arrived completely, and drops it if it is good.
    func finish(_ number: Int, for target: Target, isAllOrNothing: Bool) -> Result {
        guard let (job, _) = staged.removeValue(forKey: number) else { return .unavailable }
        let start = Moment.now
        do {
            let summary = try read(job, for: target)
            let isBad = summary.failure != nil || summary.rejectedCount == summary.recipientCount
            let diagnostics = Array(summary.report.inOrder.prefix(Self.diagnosticLimit))
            if isBad || isAllOrNothing && summary.rejectedCount > 0 { return .refused(diagnostics) }
            let name = try job.publish()
            troubles.note(nil, about: target.app.name)
            return .dropped(
                Receipt(
                    name: name, recipientCount: summary.recipientCount, rejectedCount: summary.rejectedCount,
                    diagnostics: diagnostics, time: .now - start))
        } catch {
            troubles.note(error, about: target.app.name)
            return .unavailable
        }
    }

    /// Forgets a job that will not arrive completely.
    func abandon(_ number: Int) { staged[number] = nil }

    private func read(_ job: StagedJob, for target: Target) throws -> JobSummary {
        guard let name = FileName(job.name) else { throw DoorTrouble("\(job.name) is not a job's name") }
        let file = try job.openForReading()
        let open = OpenJob(name: name, status: try file.status(), file: file)
        let context = JobContext(checkingFor: target.app, target.limits)
        return try JobSource.read(open, context, within: .ofThisThread(for: open)).summary
    }
}
