package import APNSModel
package import JobFormat
package import JournalModel

/// The life cycle of one claimed job that was read: sending, settled, published, archived; or held instead.
///
/// It tracks the unfinished notifications and the outcomes of the others. It does no I/O and reads no clock. A machine
/// created from the journal (`init(remaining:tally:)`) resumes as if it had never stopped.
package struct JobMachine: Sendable {
    /// The state of the job.
    package enum State: Hashable, Sendable {
        /// Being sent.
        case sending
        /// On its way to `hold/`: nothing more is handed out, and notifications under way may still settle.
        case draining(HoldReason)
        /// The job cannot continue: it fails with this code once the notifications under way have their outcome.
        case stopping(ResultCode)
        /// In `hold/`; a new machine resumes the job when it is released.
        case held(HoldReason)
        /// Every notification has an outcome, or the job failed as a whole.
        case settled(Conclusion)
        /// Its feedback lines are published.
        case published(Conclusion)
        /// In `done/` or `failed/`.
        case archived(Conclusion)
    }

    /// Why a job is held.
    package enum HoldReason: Hashable, Sendable {
        /// An operator asked for it.
        case operatorRequest
        /// Its bytes changed after they were checked.
        case changed
    }

    /// An event in the life of the job.
    package enum Event: Hashable, Sendable {
        /// Notifications got an outcome.
        case settled(Range<Int>, Outcome)
        /// An acceptance inferred from silence was wrong: these notifications have this outcome instead.
        case corrected(Range<Int>, Outcome)
        /// An acceptance inferred from silence was wrong: these notifications have no outcome and are sent again.
        case reopened(Range<Int>)
        /// Stop: an operator ended the job, or it cannot continue. Nothing more is handed out. The job ends when all
        /// notifications have an outcome, so the shell settles those that are not under way.
        case stopped(ResultCode)
        /// Hold the job.
        case hold(HoldReason)
        /// None of its notifications is under way any more.
        case drained
        /// Its feedback lines are durable.
        case published
        /// It was moved to its archive.
        case archived
    }

    /// The shell's response to an event.
    package enum Action: Hashable, Sendable {
        /// Hand out nothing more; report `drained` when nothing is under way.
        case stopSending
        /// Hand out nothing more; settle the notifications that are not under way.
        case giveUp
        /// Move the job to `hold/`.
        case park(HoldReason)
        /// Record the conclusion, then write feedback and the `job` line.
        case publish
    }

    /// The state of the job.
    package private(set) var state: State
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
        self.state = remaining.isEmpty ? .settled(Conclusion(tally: tally, fault: nil)) : .sending
    }

    /// Creates the machine of a job that had ended but may not have been published.
    package init(concluded conclusion: Conclusion) {
        (self.state, self.remaining, self.tally) = (.settled(conclusion), IndexRuns(), conclusion.tally)
    }

    /// Applies one event and returns the shell's response. An event that makes no sense in a state changes nothing.
    package mutating func handle(_ event: Event) -> Action? {
        count(event)
        let (next, action) = step(on: event)
        state = next
        return action
    }

    /// Updates `remaining` and `tally` in every state, because a correction can arrive in any of them.
    private mutating func count(_ event: Event) {
        switch event {
        case .settled(let range, let outcome):
            tally.add(outcome, count: remaining.subtract(range))
        case .corrected(let range, let outcome):
            tally.add(.accepted, count: -range.count)
            tally.add(outcome, count: range.count)
        case .reopened(let range):
            tally.add(.accepted, count: -remaining.insert(range))
        case .stopped, .hold, .drained, .published, .archived:
            break
        }
    }

    private func step(on event: Event) -> (State, Action?) {
        switch (state, event) {
        case (.sending, .settled), (.sending, .reopened), (.sending, .corrected), (.draining, .settled),
            (.draining, .reopened), (.draining, .corrected):
            goingOn(fault: nil)
        case (.stopping(let code), .settled), (.stopping(let code), .reopened), (.stopping(let code), .corrected):
            goingOn(fault: code)
        case (.sending, .stopped(let code)), (.draining, .stopped(let code)): (.stopping(code), .giveUp)
        case (.sending, .hold(let reason)): (.draining(reason), .stopSending)
        case (.draining(let reason), .drained): (.held(reason), .park(reason))
        case (.settled(let conclusion), .published): (.published(conclusion), nil)
        case (.published(let conclusion), .archived): (.archived(conclusion), nil)
        case (.sending, _), (.draining, _), (.stopping, _), (.held, _), (.settled, _), (.published, _), (.archived, _):
            (state, nil)
        }
    }

    /// Stays in the current state, or ends the job if no notification remains.
    private func goingOn(fault: ResultCode?) -> (State, Action?) {
        remaining.isEmpty ? (.settled(Conclusion(tally: tally, fault: fault)), .publish) : (state, nil)
    }
}
