import Configuration
import Gateways
import JobOperations
import LinuxIO
import Logging
import SharedResources
import SpoolModel
import SpoolStore

/// The shared parts of an app's pipeline, on which the others base their decisions. Each keeps its own state.
final class AppParts {
    let context: AppContext
    let accepted: AcceptedIdentity
    let gateway: any PushGateway
    /// Signalled when there may be a file to take from `new/`.
    let intakeWakeup: Wakeup
    /// Signalled when there are lines to publish, or jobs to archive.
    let publishWakeup: Wakeup
    /// Decides which files of `new/` to take, and when.
    let intake: Shared<Intake>
    let suppression: SuppressionList
    let journal: JournalWriter
    /// Checks whether there is room for the app's next step.
    let room: JournalRoom
    let space: SpaceMonitor
    let duplicates: DuplicateGuard
    let jobs: JobTable
    let lines: FeedbackLines
    /// The remainders of held and retried jobs.
    let held: HeldJobs
    let toRecover: JobsToRecover
    let state: AppState

    /// Opens an app's part of the spool. Blocks.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - daemon: The context from the daemon.
    ///   - left: The journal's records of an earlier run of the app.
    /// - Throws: `SpoolFault` and `SystemError` if its folders cannot be used: the app cannot run.
    init(_ app: ConfiguredApp, in daemon: DaemonContext, left: LeftBehind) throws {
        context = try AppContext(app, in: daemon, left: left)
        accepted = AcceptedIdentity(app, context)
        let configuration = app.gateway(
            (daemon.tokens, daemon.mark), daemon.descriptors.sockets, daemon.permit, acceptedAt: accepted.moment)
        gateway = daemon.makeGateway(
            configuration, .durable(group: daemon.configuration.journal.syncRecords), daemon.reactor, context.logger)
        intakeWakeup = Wakeup(on: daemon.reactor)
        publishWakeup = context.makeTaskWakeup()
        var rules = daemon.configuration.intake.rules
        rules.isShared = !context.spool.isNotifying
        intake = Shared(Intake(rules: rules))
        suppression = SuppressionList(context)
        journal = JournalWriter(context, suppression)
        room = JournalRoom(of: app.name, in: daemon.journal)
        space = SpaceMonitor(context, journal)
        duplicates = try DuplicateGuard(context, space, orSignal: intakeWakeup)
        jobs = JobTable(context, duplicates, orSignal: intakeWakeup)
        lines = FeedbackLines(of: context.spool, orSignal: publishWakeup)
        held = HeldJobs(context.spool, context.logger)
        toRecover = JobsToRecover(left, firstTold: daemon.journal.position)
        state = try AppState(context, gateway)
    }
}

/// A value that several parts of an app use and change.
final class Shared<Value> {
    var value: Value

    init(_ value: Value) {
        self.value = value
    }
}
