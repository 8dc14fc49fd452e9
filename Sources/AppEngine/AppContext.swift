package import Configuration
import Gateways
import JobOperations
import JournalModel
import LinuxIO
import Logging
import ServiceProcess
package import SharedResources
import SpoolStore

/// The context that the daemon gives to an app: what all apps share, and the app's own share of it.
@dynamicMemberLookup
package final class DaemonContext: Sendable {
    /// What all apps share; of a stand-in, another node's.
    private let resources: DaemonResources
    /// The daemon's configuration.
    package let configuration: DaemonConfiguration
    /// The threads for the files of the app's filesystem.
    package let files: FileThread
    /// The descriptors guaranteed to the app, and those it has borrowed.
    let descriptors: AppDescriptors
    /// The app's metrics.
    let meter: AppMeter
    /// The app's jobs that were sent or are under way.
    let sent: SentJobs
    /// Makes the app's gateway.
    let makeGateway: GatewayMaker
    /// Whether only the jobs of a node that has died are finished: nothing is taken from `new/`.
    let isStandIn: Bool

    /// Creates the context of an app from the daemon's resources.
    ///
    /// - Parameters:
    ///   - resources: The resources.
    ///   - configuration: The daemon's configuration.
    ///   - share: The app's share.
    ///   - isStandIn: Whether they are another node's, to finish its jobs.
    package init(
        _ resources: DaemonResources, _ configuration: DaemonConfiguration, _ share: AppShare, isStandIn: Bool = false
    ) {
        (self.resources, self.configuration, self.isStandIn) = (resources, configuration, isStandIn)
        (files, descriptors, meter, sent) = (share.files, share.descriptors, share.meter, share.sent)
        makeGateway = share.makeGateway
    }

    /// What all apps share, by its name: `context.spool` is the spool of the resources.
    package subscript<Part>(dynamicMember part: KeyPath<DaemonResources, Part>) -> Part { resources[keyPath: part] }

    /// Whether `state` is this node's alone. A daemon outside a cluster finishes other nodes' jobs with its own state, whose
    /// files its own apps write.
    var ownsState: Bool { !isStandIn || resources.spool.isShared }

    /// The folder of the app's marks.
    var markFolder: Directory { ownsState ? resources.state : resources.spool.privateDirectory }

    /// Asked before each write to a gateway; `nil` for a daemon that works alone.
    var permit: ActPermit? {
        guard let lease = resources.spool.lease else { return nil }
        return { lease.isValid }
    }

    /// The journal of everything that must outlive the daemon: its room, and the records of earlier runs.
    var journal: Journal { resources.spool.journal }
}

/// Makes a gateway from its configuration, for an owner that keeps such records.
typealias GatewayMaker = @Sendable (GatewayConfiguration, RecordKeeping, Reactor, Logger) -> any PushGateway

/// The parts of the daemon that an app has for itself, or shares with the apps on its filesystem.
package struct AppShare: Sendable {
    /// The threads for the files of the app's filesystem.
    package let files: FileThread
    let descriptors: AppDescriptors
    let meter: AppMeter
    let sent: SentJobs
    /// Makes the app's gateway: one that connects, unless a test has another.
    var makeGateway: GatewayMaker = { $0.makeGateway(recordKeeping: $1, on: $2, logger: $3) }

    /// Creates an app's share.
    package init(files: FileThread, descriptors: AppDescriptors, meter: AppMeter, sent: SentJobs) {
        (self.files, self.descriptors, self.meter, self.sent) = (files, descriptors, meter, sent)
    }
}

/// The context that the parts of an app's pipeline share. They belong to the app's runner, and run on its thread.
final class AppContext {
    /// The app's name.
    let name: String
    /// Logs with the app's name.
    let logger: Logger
    /// The app's folders.
    let spool: AppSpool
    /// The app's `feedback/`.
    let folder: FeedbackFolder
    /// Whether the app takes jobs, drains or stops, and its status.
    let lifecycle: AppLifecycle
    /// The context from the daemon.
    let daemon: DaemonContext
    /// Signalled when the app is to stop, or when a task may have to start.
    let runnerWakeup: Wakeup

    /// Opens an app's folders. Blocks.
    ///
    /// - Throws: `SpoolFault` and `SystemError` if they cannot be used: the app cannot run.
    init(_ app: ConfiguredApp, in daemon: DaemonContext, left: LeftBehind) throws {
        var logger = daemon.logger
        logger[metadataKey: LogKey.app] = "\(app.name)"
        (name, self.logger, self.daemon) = (app.name, logger, daemon)
        spool = try daemon.spool.app(app.name)
        spool.jobFiles = daemon.descriptors.jobFiles
        // Without a journal there was no earlier run.
        if daemon.spool.replay.isBlank { spool.archives.noteSettled() }
        folder = try FeedbackFolder(spool, after: left.newestFeedback)
        lifecycle = AppLifecycle(of: app.name, in: daemon)
        runnerWakeup = Wakeup(on: daemon.reactor)
    }

    /// Returns a wakeup for a task that the runner starts with the app's first work, which the first signal reports.
    func makeTaskWakeup() -> Wakeup {
        Wakeup(on: daemon.reactor) { [lifecycle, runnerWakeup] in
            lifecycle.noteWork()
            runnerWakeup.signal()
        }
    }

    /// The threads for the app's files.
    var files: FileThread { daemon.files }

    /// Traps in debug builds on any other thread than the app's. The compiler does not prove where all parts run.
    func assertOwnThread() {
        assert(files.worker.isIsolatingCurrentContext() != false, "an app's parts belong to its thread")
    }
}
