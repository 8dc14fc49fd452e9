package import PushModel

/// The order in which an app's results are recorded, published and archived, which makes a crash harmless.
///
/// The caller adds jobs as they end, asks for one step at a time, and reports how each ended. A round is:
///
/// 1. ``Step/tell(_:)``: record how jobs ended, and add their lines to those to be published.
/// 2. ``Step/sync``: make all records durable. Once its line was read, a notification must never be resent by the next start.
/// 3. ``Step/keepRefs(_:)``: store the jobs' refs. From then on, another job with the same ref is a duplicate.
/// 4. ``Step/publish(_:)``: rename the lines into `feedback/`.
/// 5. ``Step/archive(_:)``: move the jobs to `done/` and `failed/`.
/// 6. ``Step/park(_:)`` and ``Step/depart(_:)``: move jobs that are held, and files that fail without a claim.
///
/// If step 2, 3 or 4 fails, the round ends, and the next one starts again with the same lines. A failed move is retried in the
/// next round. The caller cleans moved jobs when it chooses: ``takeArchived()``.
package struct PublicationPlan {
    /// The next step for the caller.
    package enum Step: Hashable, Sendable {
        /// Record the ends of these jobs, and write their lines in memory.
        case tell([JobID])
        /// Take the current lines in memory, and make durable all records made by then.
        case sync
        /// Store the refs of these jobs.
        case keepRefs([JobID])
        /// Publish the taken lines, which conclude these jobs.
        case publish([JobID])
        /// Move these jobs to their archives.
        case archive([JobID])
        /// Move these jobs to `hold/`.
        case park([JobID])
        /// Move these files, which are not claimed, to `failed/`.
        case depart([JobID])
    }

    /// How a step ended.
    package enum Result: Hashable, Sendable {
        /// It succeeded.
        case done
        /// It failed, or its result is unknown.
        case failed
        /// It failed for some jobs, and had nothing left to do for others. It succeeded for the rest.
        case doneBut(failed: [JobID], gone: [JobID])

        /// Whether nothing of it has failed.
        package var isComplete: Bool {
            switch self {
            case .done: true
            case .failed: false
            case .doneBut(let failed, _): failed.isEmpty
            }
        }
    }

    /// The position in a round.
    private enum Stage {
        case idle, telling, syncing, keeping, publishing, archiving, parking, departing
    }

    private var stage = Stage.idle
    /// The jobs of the step under way.
    private var underWay: [JobID] = []
    /// Jobs that have ended and have no line yet.
    private var concluded: [JobID] = []
    /// Jobs whose line is in memory.
    private var told: [JobID] = []
    /// Jobs whose lines are published and that are still to be moved.
    private var published: [JobID] = []
    /// Jobs whose move is not synced yet.
    private var archived: [JobID] = []
    /// Jobs to be held, and files that fail without a claim; below, those of them whose lines this round publishes.
    private var parking: [JobID] = []
    private var departures: [JobID] = []
    private var dueParking: [JobID] = []
    private var dueDepartures: [JobID] = []

    /// Creates an empty plan.
    package init() {}

    // MARK: Input

    /// Adds a job that has ended.
    package mutating func conclude(_ job: JobID) { concluded.append(job) }

    /// Adds a job to be held, whose lines are in memory.
    package mutating func park(_ job: JobID) { parking.append(job) }

    /// Adds a file that fails without a claim, whose line is in memory or published.
    package mutating func depart(_ job: JobID) { departures.append(job) }

    /// Adds a job that was archived by an earlier run, or before a sync that failed. It is unknown whether that move
    /// would survive a power loss.
    package mutating func noteMoved(_ job: JobID) { archived.append(job) }

    /// Whether a round would have no work, apart from lines in memory.
    package var isIdle: Bool { concluded.isEmpty && published.isEmpty && parking.isEmpty && departures.isEmpty }

    // MARK: A round

    /// Begins a round.
    ///
    /// - Precondition: No round is under way.
    package mutating func begin() {
        precondition(stage == .idle, "one round at a time")
        stage = .telling
    }

    /// Returns the next step of the round; `nil` at its end.
    ///
    /// - Parameter hasLines: Whether there are lines in memory.
    /// - Returns: The step. Report how it ended (``note(_:)``) before asking again.
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
                stage = .departing
            case .departing:
                if !dueDepartures.isEmpty { return .depart(dueDepartures) }
                stage = .idle
            }
        }
    }

    /// Records how the current step ended.
    ///
    /// - Returns: `false` if the round ends because its lines could not be published.
    @discardableResult
    package mutating func note(_ result: Result) -> Bool {
        let (failed, gone) = result.exceptions(of: underWay)
        switch stage {
        case .idle: break
        case .syncing: return goOn(to: .keeping, result)
        case .keeping: return goOn(to: .publishing, result)
        case .publishing:
            if result == .done { published += underWay }
            return goOn(to: .archiving, result)
        case .telling:
            told += underWay.without(failed + gone)
            concluded += failed
            noteTold()
        case .archiving:
            archived += underWay.without(failed + gone)
            published += failed
            stage = .parking
        case .parking:
            parking = parking.without(dueParking.without(result.exceptions(of: dueParking).failed))
            (dueParking, stage) = ([], .departing)
        case .departing:
            let (failed, gone) = result.exceptions(of: dueDepartures)
            departures = departures.without(dueDepartures.without(failed))
            archived += dueDepartures.without(failed + gone)
            (dueDepartures, stage) = ([], .idle)
        }
        return true
    }

    /// Lines of jobs to be held and of files that depart are published in this round, or were before.
    private mutating func noteTold() {
        (dueParking, dueDepartures, stage) = (parking, departures, .syncing)
    }

    /// Continues with the lines of a round, or ends it, so that the next one has them again.
    private mutating func goOn(to next: Stage, _ result: Result) -> Bool {
        stage = result == .done ? next : .idle
        if result != .done { told = underWay + told }
        return result == .done
    }

    // MARK: Cleaning

    /// Whether any jobs were moved and the move may not survive a power loss.
    package var mustClean: Bool { !archived.isEmpty }

    /// Removes and returns the jobs whose moves are about to be synced. After the sync the journal may forget them. If
    /// it fails, pass them to `noteMoved` again.
    package mutating func takeArchived() -> [JobID] {
        defer { archived = [] }
        return archived
    }
}

extension PublicationPlan.Result {
    /// The jobs for which a step failed, and those for which it had nothing left to do.
    fileprivate func exceptions(of jobs: [JobID]) -> (failed: [JobID], gone: [JobID]) {
        switch self {
        case .done: ([], [])
        case .failed: (jobs, [])
        case .doneBut(let failed, let gone): (failed, gone)
        }
    }
}

extension [JobID] {
    /// Returns all jobs except these, in the same order.
    fileprivate func without(_ jobs: [JobID]) -> [JobID] {
        guard !jobs.isEmpty else { return self }
        let others = Set(jobs)
        return filter { !others.contains($0) }
    }
}
