/// The jobs of which the gateway refused a notification as if the app were at fault.
///
/// Their notifications are kept apart, so that other jobs are sent. When a job's pause has ended, it asks again with one
/// notification, another one each time. Every refusal doubles the pause. An answer to a notification that does not blame
/// the app ends the hold of its job.
struct RefusedJobs: Sendable {
    private enum Phase {
        /// Waits for the end of its pause.
        case resting
        /// A notification of it waits to be sent.
        case asking
        /// That notification was taken, and has no outcome yet.
        case asked
    }

    private struct Hold {
        var batches = BatchList()
        var refusalCount = 0
        var phase = Phase.resting
        var pause = Duration.zero
        /// When it may ask, or ask again if the notification it asked with never gets an answer.
        var asksAt = Moment.zero
        /// The number of its last refusal among those of all jobs.
        var turn = 0
        /// Whether another job was accepted meanwhile, which shows that the app is not at fault.
        var isOwnFault = false
    }

    private var holds: [JobID: Hold] = [:]
    private var turn = 0

    /// The number of refusals that put a job on hold or prolonged its hold.
    var refusalTurn: Int { turn }

    /// Whether no job is on hold.
    var isEmpty: Bool { holds.isEmpty }

    /// Whether any notification is kept apart.
    var hasWork: Bool { holds.values.contains { !$0.batches.isEmpty } }

    /// When the first pause of a job with notifications ends.
    var nextAsk: Moment? {
        holds.values.filter { $0.phase != .asking && !$0.batches.isEmpty }.map(\.asksAt).min()
    }

    /// Whether a job is on hold.
    func contains(_ job: JobID) -> Bool { holds[job] != nil }

    /// The pause of a job's hold; `nil` if it is not on hold.
    func pause(of job: JobID) -> Duration? { holds[job]?.pause }

    /// Whether a job's notifications must not be sent.
    func isResting(_ job: JobID) -> Bool { holds[job].map { $0.phase != .asking } ?? false }

    /// The number of a job's notifications that are kept apart.
    func count(of job: JobID) -> Int { holds[job]?.batches.count ?? 0 }

    /// A job's notifications that are kept apart.
    func batches(of job: JobID) -> [Batch] { holds[job]?.batches.all { _ in true } ?? [] }

    /// Puts the job of a refused notification on hold, or prolongs its hold.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - now: The current time.
    ///   - pause: The pause after a number of refusals.
    /// - Returns: Whether the job is at fault and not the app; `nil` if the notification was in flight when the job was
    ///   put on hold, which says nothing new.
    mutating func refuse(_ job: JobID, at now: Moment, pause: (Int) -> Duration) -> Bool? {
        var hold = holds[job] ?? Hold()
        guard hold.refusalCount == 0 || hold.phase != .resting else { return nil }
        turn += 1
        hold.refusalCount += 1
        hold.pause = pause(hold.refusalCount)
        (hold.phase, hold.asksAt, hold.turn) = (.resting, now + hold.pause, turn)
        holds[job] = hold
        return hold.isOwnFault
    }

    /// Keeps a batch apart if its job is on hold. Returns whether it is.
    mutating func keep(_ batch: Batch) -> Bool { holds[batch.job]?.batches.append(batch) != nil }

    /// Notes that an asking job's notification was taken.
    mutating func noteTaken(_ job: JobID) {
        if holds[job]?.phase == .asking { holds[job]?.phase = .asked }
    }

    /// Notes that the notification that a job asks with still waits to be sent. Returns whether it does ask.
    mutating func notePutBack(_ job: JobID) -> Bool {
        guard holds[job]?.phase == .asked else { return false }
        holds[job]?.phase = .asking
        return true
    }

    /// Notes that the notification a job asked with ended unsent: the job may ask at once with another.
    mutating func noteUnsent(_ job: JobID) {
        if holds[job]?.phase == .asked { holds[job]?.asksAt = .zero }
    }

    /// Returns the next notification of each job whose pause has ended.
    mutating func ask(at now: Moment) -> [Batch] {
        holds.filter { $0.value.phase != .asking && $0.value.asksAt <= now }.keys.compactMap { ask($0, at: now) }
    }

    /// Returns the next notification of the job whose last refusal is the longest ago; `nil` if there is none.
    mutating func askOne(at now: Moment) -> Batch? {
        let waiting = holds.filter { $0.value.phase != .asking && !$0.value.batches.isEmpty }
        return waiting.min { $0.value.turn < $1.value.turn }.flatMap { ask($0.key, at: now) }
    }

    /// Lets all jobs ask at the next chance.
    mutating func hurry(at now: Moment) {
        for job in holds.keys { holds[job]?.asksAt = now }
    }

    /// Ends the hold of a job, and returns its notifications.
    mutating func remove(_ job: JobID) -> [Batch] {
        var hold = holds.removeValue(forKey: job)
        return hold?.batches.takeAll() ?? []
    }

    /// Forgets how often the jobs were refused, and lets all of them ask at the next chance.
    mutating func startOver() {
        for job in holds.keys {
            holds[job]?.refusalCount = 0
            holds[job]?.isOwnFault = false
            holds[job]?.asksAt = .zero
            if holds[job]?.phase == .asked { holds[job]?.phase = .resting }
        }
    }

    /// Notes that a job was accepted: those on hold are themselves at fault.
    mutating func noteAcceptance(besides job: JobID) {
        for other in holds.keys where other != job { holds[other]?.isOwnFault = true }
    }

    private mutating func ask(_ job: JobID, at now: Moment) -> Batch? {
        guard var hold = holds[job], let one = hold.batches.takeFirst(1) else { return nil }
        (hold.phase, hold.asksAt) = (.asking, now + hold.pause)
        holds[job] = hold
        return one
    }
}
