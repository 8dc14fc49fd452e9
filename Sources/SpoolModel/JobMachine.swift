package import JobFormat
package import JournalModel
package import PushModel

/// The life cycle of one claimed job that was read: sending, settled, concluded, told, published, archived; or held instead.
///
/// It tracks the unfinished notifications and the outcomes of the others. It does no I/O and reads no clock. A machine
/// created from the journal (`init(remaining:tally:)`) resumes as if it had never stopped. An event that makes no sense in
/// a phase changes nothing, and its function says so; JobMachineTests prints what each event does in each phase.
package struct JobMachine: Sendable {
    /// Where a job is in its life. What holds only from then on is in the case.
    package indirect enum Phase: Hashable, Sendable {
        /// Being sent.
        case sending
        /// An operator holds it: nothing more is handed out. Of its notifications only these may be on a connection.
        case draining(flying: IndexRuns)
        /// It ends: nothing more is handed out, and what is not on a connection gets the ending's outcome.
        case ending(Ending)
        /// To be moved to `hold/`, and nothing of it is under way. One that has changed is moved at once, whatever is.
        case parking(HoldReason)
        /// In `hold/` for an operator, by this name; a new machine resumes the job when it is released.
        case held(FileName)
        /// Every notification has an outcome, or the job failed as a whole. Outcomes of an earlier run may have to be
        /// published first.
        case settled(Conclusion)
        /// It ended at this time; its end is to be recorded, and its line to be written.
        case concluded(Conclusion, at: WallTime)
        /// Its end and its place in the archive are recorded, and its line is in memory.
        case told(JournalFinal)
        /// Its feedback lines are published.
        case published(JournalFinal)
        /// In `done/` or `failed/`.
        case archived
    }

    /// Why a job is held.
    package enum HoldReason: Hashable, Sendable {
        /// An operator asked for it.
        case operatorRequest
        /// Its bytes changed after they were checked, or what is recorded of it cannot be read.
        case changed
    }

    /// How the rest of a job ends.
    package struct Ending: Hashable, Sendable {
        /// The outcome of the notifications that are not on a connection.
        package let rest: Outcome
        /// With which the job fails, whatever its outcomes are; `nil` if they decide.
        package var code: ResultCode?
        /// Whether an operator ended the job. The unread rest has its outcome then, and is read only to publish it.
        package var isOrdered = false

        /// Creates the ending of a job whose outcomes decide how it ends.
        package init(rest: Outcome) { self.rest = rest }
    }

    /// The phase of the job.
    package private(set) var phase: Phase
    /// The notifications without an outcome.
    package private(set) var remaining: IndexRuns
    /// The outcomes of the others.
    package private(set) var tally: Tally
    /// Whether any notification is known to have been written to a connection and returned without an outcome.
    package var wasWritten = false

    /// Creates the machine of a job that was read and claimed. It is being sent, or has ended if it cannot be sent.
    ///
    /// - Parameters:
    ///   - count: How many notifications the job has.
    ///   - fault: Why the job cannot be sent; `nil` if it can.
    package init(count: Int, fault: ResultCode?) {
        guard let fault else {
            self.init(remaining: IndexRuns(0..<count), tally: Tally())
            return
        }
        self.init(concluded: Conclusion(tally: Tally(), fault: fault))
    }

    /// Creates the machine of a job that was held, or was being sent when the daemon stopped.
    package init(remaining: IndexRuns, tally: Tally) {
        self.remaining = remaining
        self.tally = tally
        self.phase = remaining.isEmpty ? .settled(Conclusion(tally: tally, fault: nil)) : .sending
    }

    /// Creates the machine of a job that had ended but may not have been published.
    package init(concluded conclusion: Conclusion) {
        (self.phase, self.remaining, self.tally) = (.settled(conclusion), IndexRuns(), conclusion.tally)
    }

    // MARK: Outcomes

    /// Counts notifications that got an outcome, in any phase.
    ///
    /// - Returns: Whether the job is settled by it.
    package mutating func settle(_ range: Range<Int>, _ outcome: Outcome) -> Bool {
        tally.add(outcome, count: remaining.subtract(range))
        guard remaining.isEmpty else { return false }
        switch phase {
        case .sending, .draining: phase = .settled(Conclusion(tally: tally, fault: nil))
        case .ending(let ending): phase = .settled(Conclusion(tally: tally, fault: ending.code))
        case .parking, .held, .settled, .concluded, .told, .published, .archived: return false
        }
        return true
    }

    /// Counts, in any phase, notifications whose acceptance was inferred from silence and was wrong: they have this outcome.
    package mutating func correct(_ range: Range<Int>, _ outcome: Outcome) {
        tally.add(.accepted, count: -range.count)
        tally.add(outcome, count: range.count)
    }

    /// Counts, in any phase, notifications whose acceptance was inferred from silence and was wrong: they are sent again.
    package mutating func reopen(_ range: Range<Int>) {
        tally.add(.accepted, count: -remaining.insert(range))
        changeFlying { $0.insert(range) }
    }

    // MARK: Ending and holding

    /// Ends the job, because its time is up, an operator wants it, or it cannot continue. Nothing more is handed out, and
    /// it is settled when all notifications have an outcome, so the shell settles those that are not on a connection.
    ///
    /// - Parameters:
    ///   - rest: The outcome of those; of a job that was ending already, the one that it had.
    ///   - code: With which the job fails; `nil` if its outcomes decide.
    ///   - isOrdered: Whether an operator ended it.
    /// - Returns: Whether the job ends so: it was being sent, or a code is given and its outcomes were to decide.
    package mutating func end(rest: Outcome, _ code: ResultCode? = nil, isOrdered: Bool = false) -> Bool {
        var ending = Ending(rest: rest)
        switch phase {
        case .sending: break
        case .ending(let before) where before.code == nil && code != nil: ending = before
        case .draining, .ending, .parking, .held, .settled, .concluded, .told, .published, .archived: return false
        }
        (ending.code, ending.isOrdered) = (code, isOrdered)
        phase = .ending(ending)
        return true
    }

    /// Holds the job for an operator. Nothing more is handed out, and the shell takes back what is not on a connection.
    ///
    /// - Parameter handedOutCount: How many notifications were handed out; only these may be on a connection.
    /// - Returns: Whether the job is to be held: it was being sent.
    package mutating func hold(handedOutCount: Int) -> Bool {
        switch phase {
        case .sending: phase = .draining(flying: IndexRuns(remaining.intersection(0..<handedOutCount)))
        case .draining, .ending, .parking, .held, .settled, .concluded, .told, .published, .archived: return false
        }
        return true
    }

    /// Notes that these notifications are not on a connection. May copy those that may be, so pass many at a time.
    package mutating func noteReturned(_ ranges: [Range<Int>]) {
        changeFlying { flying in
            for range in ranges { flying.subtract(range) }
        }
    }

    /// Moves on to parking if the job is to be held and none of its notifications is on a connection.
    ///
    /// - Returns: Whether it does.
    package mutating func drain() -> Bool {
        switch phase {
        case .draining(let flying):
            guard flying.runs.allSatisfy({ remaining.intersection($0).isEmpty }) else { return false }
            phase = .parking(.operatorRequest)
        case .sending, .ending, .parking, .held, .settled, .concluded, .told, .published, .archived: return false
        }
        return true
    }

    /// Parks the job at once, whatever is under way: its file or its records are not what they were.
    ///
    /// - Returns: Whether it is to be parked: it had not ended.
    package mutating func holdChanged() -> Bool {
        switch phase {
        case .sending, .draining, .ending: phase = .parking(.changed)
        case .parking, .held, .settled, .concluded, .told, .published, .archived: return false
        }
        return true
    }

    /// Notes that the job was moved to `hold/` for an operator.
    package mutating func notePlaced(as name: FileName) {
        switch phase {
        case .parking(.operatorRequest): phase = .held(name)
        case .parking(.changed), .sending, .draining, .ending, .held, .settled, .concluded, .told, .published,
            .archived:
            break
        }
    }

    // MARK: Publishing

    /// Concludes a settled job.
    ///
    /// - Returns: Whether it is concluded now, and not before.
    package mutating func conclude(at time: WallTime) -> Bool {
        switch phase {
        case .settled(let conclusion): phase = .concluded(conclusion, at: time)
        case .sending, .draining, .ending, .parking, .held, .concluded, .told, .published, .archived: return false
        }
        return true
    }

    /// Notes that the end of the job is recorded, and its line is in memory.
    package mutating func noteTold(_ final: JournalFinal) {
        switch phase {
        case .concluded: phase = .told(final)
        case .sending, .draining, .ending, .parking, .held, .settled, .told, .published, .archived: break
        }
    }

    /// Notes that its feedback lines are durable.
    package mutating func notePublished() {
        switch phase {
        case .told(let final): phase = .published(final)
        case .sending, .draining, .ending, .parking, .held, .settled, .concluded, .published, .archived: break
        }
    }

    /// Notes that it was moved to its archive.
    package mutating func noteArchived() {
        switch phase {
        case .published: phase = .archived
        case .sending, .draining, .ending, .parking, .held, .settled, .concluded, .told, .archived: break
        }
    }

    /// Changes the notifications of a draining job that may be on a connection.
    private mutating func changeFlying(_ change: (inout IndexRuns) -> Void) {
        switch phase {
        case .draining(var flying):
            phase = .sending
            change(&flying)
            phase = .draining(flying: flying)
        case .sending, .ending, .parking, .held, .settled, .concluded, .told, .published, .archived: break
        }
    }
}
