package import APNSModel

/// In which order what became of an app's jobs is recorded, told and archived: the order that makes a crash harmless.
///
/// Jobs go in as they end; steps come out, one at a time, and the shell says how each ended. A round is:
///
/// 1. ``Step/tell(_:)``: record how jobs ended, and add their lines to those that are to be published.
/// 2. ``Step/sync``: make all records durable. A line that was read must never be sent again by the next start.
/// 3. ``Step/keepRefs(_:)``: keep what the jobs are known by. From then on another one of the same is a duplicate.
/// 4. ``Step/publish(_:)``: rename the lines into `feedback/`.
/// 5. ``Step/archive(_:)``: move the jobs to `done/` and `failed/`.
/// 6. ``Step/park(_:)`` and ``Step/withdraw(_:)``: move what operators have held or ended, whose lines are out.
///
/// Where 2, 3 or 4 fails the round ends, and the next one begins anew with the same lines. A failed move is tried again with
/// the next round. At times of the shell's choice what was moved is cleaned: ``Cleaning``.
package struct PublicationPlan {
    /// What the shell must do next.
    package enum Step: Hashable, Sendable {
        /// Record the ends of these jobs, and write their lines in memory.
        case tell([JobID])
        /// Take the lines that there are in memory, and make everything durable that was recorded by then.
        case sync
        /// Keep the refs of these jobs.
        case keepRefs([JobID])
        /// Publish the lines that were taken; these jobs are over by them.
        case publish([JobID])
        /// Move these jobs to their archives.
        case archive([JobID])
        /// Move these jobs to `hold/`.
        case park([JobID])
        /// Move these files from `hold/` to `failed/`.
        case withdraw([JobID])
    }

    /// How a step ended.
    package enum Result: Hashable, Sendable {
        /// As it should.
        case done
        /// Not at all, or nobody knows.
        case failed
        /// Of these jobs not, and of these there is nothing left to do; of the others as it should.
        case doneBut(failed: [JobID], gone: [JobID])
    }

    /// Where a round is.
    private enum Stage {
        case idle, telling, syncing, keeping, publishing, archiving, parking, withdrawing
    }

    private var stage = Stage.idle
    /// What the step that is under way is about.
    private var underWay: [JobID] = []
    /// Jobs that ended and have no line yet.
    private var concluded: [JobID] = []
    /// Jobs whose line is among those in memory.
    private var told: [JobID] = []
    /// Jobs whose lines are out and which are still to be moved.
    private var published: [JobID] = []
    /// Jobs that were moved, which is not synced yet.
    private var archived: [JobID] = []
    /// Jobs that are to be held, and parked files that an operator has ended; of those whose lines are out with this round.
    private var parking: [JobID] = []
    private var withdrawals: [JobID] = []
    private var dueParking: [JobID] = []
    private var dueWithdrawals: [JobID] = []

    /// Creates a plan for nothing.
    package init() {}

    // MARK: What comes in

    /// Notes a job that has ended.
    package mutating func conclude(_ job: JobID) { concluded.append(job) }

    /// Notes a job that is to be held, whose lines are in memory.
    package mutating func park(_ job: JobID) { parking.append(job) }

    /// Notes a parked file that was ended, whose line is in memory.
    package mutating func withdraw(_ job: JobID) { withdrawals.append(job) }

    /// Notes a job that an earlier run has moved to its place; whether that survives a power loss is not known.
    package mutating func noteMoved(_ job: JobID) { archived.append(job) }

    /// Whether a job waits to be parked.
    package func isParking(_ job: JobID) -> Bool { parking.contains(job) }

    /// Whether there is nothing for a round to do, beside lines in memory.
    package var isIdle: Bool { concluded.isEmpty && published.isEmpty && parking.isEmpty && withdrawals.isEmpty }

    // MARK: A round

    /// Begins a round.
    ///
    /// - Precondition: None is under way.
    package mutating func begin() {
        precondition(stage == .idle, "one round at a time")
        stage = .telling
    }

    /// The next step of the round; `nil` at its end.
    ///
    /// - Parameter hasLines: Whether there are lines in memory.
    /// - Returns: The step: say how it ended (``note(_:)``) before asking again.
    package mutating func next(hasLines: Bool) -> Step? {
        while true {
            switch stage {
            case .idle: return nil
            case .telling:
                (underWay, concluded) = (concluded, [])
                if !underWay.isEmpty { return .tell(underWay) }
                noteTold()
            case .syncing:
                if hasLines {
                    (underWay, told) = (told, [])
                    return .sync
                }
                stage = .archiving
            case .keeping: return .keepRefs(underWay)
            case .publishing: return .publish(underWay)
            case .archiving:
                (underWay, published) = (published, [])
                if !underWay.isEmpty { return .archive(underWay) }
                stage = .parking
            case .parking:
                if !dueParking.isEmpty { return .park(dueParking) }
                stage = .withdrawing
            case .withdrawing:
                if !dueWithdrawals.isEmpty { return .withdraw(dueWithdrawals) }
                stage = .idle
            }
        }
    }

    /// Notes how the step that was asked for ended.
    package mutating func note(_ result: Result) {
        let (failed, gone) = result.exceptions(of: underWay)
        switch stage {
        case .idle: break
        case .telling:
            told += underWay.without(failed + gone)
            concluded += failed
            noteTold()
        case .syncing: goOn(to: .keeping, result)
        case .keeping: goOn(to: .publishing, result)
        case .publishing:
            if result == .done { published += underWay }
            goOn(to: .archiving, result)
        case .archiving:
            archived += underWay.without(failed + gone)
            published += failed
            stage = .parking
        case .parking:
            parking = parking.without(dueParking.without(result.exceptions(of: dueParking).failed))
            (dueParking, stage) = ([], .withdrawing)
        case .withdrawing:
            withdrawals = withdrawals.without(dueWithdrawals.without(result.exceptions(of: dueWithdrawals).failed))
            (dueWithdrawals, stage) = ([], .idle)
        }
    }

    /// The lines of what is to be parked or withdrawn are among those that are published now, or before.
    private mutating func noteTold() {
        (dueParking, dueWithdrawals, stage) = (parking, withdrawals, .syncing)
    }

    /// Goes on with the lines of a round, or ends it: the next one has them again.
    private mutating func goOn(to next: Stage, _ result: Result) {
        guard result != .done else { return stage = next }
        told = underWay + told
        stage = .idle
    }

    // MARK: What may be forgotten

    /// Whether jobs were moved whose move may not survive a power loss.
    package var mustClean: Bool { !archived.isEmpty }

    /// Takes the jobs whose moves are about to be synced: when they are, the journal may forget them. If they cannot be
    /// the journal keeps them, and the next start looks where they are.
    package mutating func takeArchived() -> [JobID] {
        defer { archived = [] }
        return archived
    }
}

extension PublicationPlan.Result {
    /// The jobs of a step that it did not do, and those of which nothing is left to do.
    fileprivate func exceptions(of jobs: [JobID]) -> (failed: [JobID], gone: [JobID]) {
        switch self {
        case .done: ([], [])
        case .failed: (jobs, [])
        case .doneBut(let failed, let gone): (failed, gone)
        }
    }
}

extension [JobID] {
    /// All but these, in the same order.
    fileprivate func without(_ jobs: [JobID]) -> [JobID] {
        guard !jobs.isEmpty else { return self }
        let others = Set(jobs)
        return filter { !others.contains($0) }
    }
}
