import Configuration
import Gateways
import JobOperations
import LinuxIO
import PushModel
import ServiceProcess
import SharedResources

/// The stages of an app's jobs: from `new/` (`intake`, `claimer`) or an earlier run (`recovery`), through `sender` and
/// `listener`, to `publisher`. `recall` takes back what `sender` has submitted.
final class Pipeline {
    /// How often a draining app looks whether it may stop, if nothing has woken it before.
    private static let drainingPause = Duration.seconds(1)

    private let parts: AppParts
    let intake: IntakeLoop
    private let reader: JobFileReader
    private let unclaimed: UnclaimedFiles
    private let claimer: Claimer
    let recovery: Recovery
    let sender: Sender
    let recall: BatchRecall
    let listener: GatewayListener
    let publisher: Publisher
    let hook: HookRunner
    private let retention: RetentionTask
    let status: StatusReporter
    let commands: OperatorCommands
    /// Among how many nodes the app's rate is divided.
    private var senderCount = 1

    init(_ parts: AppParts, _ app: ConfiguredApp, _ hints: HintBox) {
        self.parts = parts
        let configuration = app.configuration
        status = StatusReporter(parts, app)
        hook = HookRunner(configuration.hook, parts.context, parts.room, orSignal: parts.intakeWakeup)
        status.hook = hook
        retention = RetentionTask(parts.context)
        publisher = Publisher(parts, retention, hook)
        let outcomes = OutcomeRecorder(parts, publisher, OutcomeRoom(parts, publisher, status))
        recall = BatchRecall(parts, outcomes)
        sender = Sender(parts, outcomes, recall, publisher)
        listener = GatewayListener(parts, outcomes, status)
        unclaimed = UnclaimedFiles(parts, publisher)
        claimer = Claimer(parts, publisher, sender, unclaimed)
        reader = JobFileReader(parts, app)
        intake = IntakeLoop(hints, reader, claimer, status)
        recovery = Recovery(reader, claimer, sender, outcomes)
        commands = OperatorCommands(LiveJobs(publisher, recall, recovery, hints))
        reader.intake = intake
    }

    /// Uses another configuration from the next job on.
    func configure(_ app: ConfiguredApp) {
        status.configure(app)
        reader.configure(app)
        hook.configure(app.configuration.hook)
    }

    /// Records whether a draining app may stop.
    private func noteDraining() {
        parts.context.lifecycle.note(isIdle: isIdle || parts.state.isPausedOut)
    }

    /// Whether the gateway's next event may let a held job, or a draining app, advance.
    var isAwaitingEvents: Bool { parts.context.lifecycle.isDraining || parts.jobs.hasDraining }

    /// Whether all jobs of an earlier run have ended, and the hook has all their feedback.
    var isThrough: Bool {
        let toRecover = parts.toRecover
        return !toRecover.mustLook && toRecover.found.isEmpty && toRecover.takingUp.isEmpty && isIdle && hook.isThrough
    }

    /// Whether no job is under way.
    var isIdle: Bool {
        parts.jobs.isEmpty && claimer.count == 0 && reader.count == 0 && !publisher.isAtWork
    }

    /// Takes jobs as they become ready, and maintains those under way, until the task is cancelled.
    ///
    /// Functions without work are not even called: once called, the task keeps memory for their frames. Nor is this loop
    /// inlined, or any other of an app: each of its tasks would keep memory for the frames of all.
    @inline(never) func run() async {
        let (toRecover, jobs) = (parts.toRecover, parts.jobs)
        while !Task.isCancelled {
            intake.takeHints()
            await shareRate()
            await parts.space.look()
            if intake.isScanDue, await parts.state.lookAtPause() { status.show() }
            await sender.prepareToAsk(isClaiming: claimer.announcedCount > 0)
            if toRecover.mustLook, Moment.now >= toRecover.nextLook { recovery.findMissingJobs() }
            if intake.isScanDue { recovery.findStrays() }
            if !toRecover.found.isEmpty { await recovery.recoverJobs() }
            await intake.takeReady()
            if !jobs.isEmpty {
                await recall.giveUpLateJobs()
                await recall.giveBackUnsentJobs()
            }
            if !parts.journal.isBroken {
                if !parts.context.daemon.isStandIn, retention.isDue { await retention.goOn() }
                if parts.suppression.wantsRewriting { await parts.suppression.rewriteOn() }
                if parts.suppression.wantsNews { await parts.suppression.readNews() }
            }
            if jobs.hasDraining { await recall.proceedWithHolds() }
            if jobs.hasEnding { await recall.proceedWithEndings() }
            parts.journal.write()
            status.update()
            if parts.context.lifecycle.isDraining { noteDraining() }
            await parts.intakeWakeup.wait(until: nextLook.instant)
        }
    }

    /// Divides the app's rate among the nodes whose jobs are sent, if their number has changed.
    private func shareRate() async {
        let count = parts.context.daemon.nodes.nodes.count
        guard count != senderCount else { return }
        senderCount = count
        await parts.gateway.shareRate(among: count)
    }

    /// The latest time of the next step.
    private var nextLook: Moment {
        if retention.isUnderWay || parts.suppression.wantsRewriting, !parts.journal.isBroken { return .now }
        var next = intake.nextLook
        if parts.toRecover.mustLook { next = min(next, parts.toRecover.nextLook) }
        if let nextNews = parts.room.nextNews { next = min(next, nextNews) }
        // A job with many notifications still unread or unanswered.
        if !parts.jobs.isEmpty { next = min(next, status.nextLook) }
        if parts.context.lifecycle.isDraining { next = min(next, .now + Self.drainingPause) }
        if let nextGiveUp = parts.jobs.nextGiveUp { next = min(next, max(.now + .milliseconds(500), nextGiveUp)) }
        return next
    }
}
