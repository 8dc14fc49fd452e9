package import APNSModel

/// The life of one claimed job that was read: sending, settled, published, archived; or held on the way.
///
/// Knows what is left of the job and what became of the rest; does no I/O and reads no clock. A machine resumes from
/// what a journal tells (`init(remaining:tally:)`) as if it had never stopped.
package struct JobMachine: Sendable {
    /// Where the job is.
    package enum State: Hashable, Sendable {
        /// Being sent.
        case sending
        /// On its way to `hold/`: nothing more is handed out, what is under way may still settle.
        case draining(HoldReason)
        /// It cannot go on: what is under way gets its outcome first, then it fails for this.
        case stopping(ResultCode)
        /// In `hold/`; another machine goes on when it is released.
        case held(HoldReason)
        /// Every notification has an outcome, or the job failed as a whole.
        case settled(Conclusion)
        /// Its feedback lines are out.
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

    /// What happened.
    package enum Event: Hashable, Sendable {
        /// Notifications got an outcome.
        case settled(Range<Int>, Outcome)
        /// An earlier acceptance by silence was wrong: these have this outcome instead.
        case corrected(Range<Int>, Outcome)
        /// An earlier acceptance by silence was wrong: these have no outcome and are sent again.
        case reopened(Range<Int>)
        /// Stop, whether by `rm`-like request or because the job cannot go on. Nothing more is handed out; the job ends
        /// when all of it has an outcome, so the shell settles what is not under way as unsent.
        case stopped(ResultCode)
        /// Park it.
        case hold(HoldReason)
        /// Nothing of it is under way any more.
        case drained
        /// Its feedback lines are durable.
        case published
        /// It was moved to its archive.
        case archived
    }

    /// What the shell must do about an event.
    package enum Action: Hashable, Sendable {
        /// Hand out nothing more; say `drained` once nothing is under way.
        case stopSending
        /// Hand out nothing more; settle as unsent what is not under way.
        case giveUp
        /// Move it to `hold/`.
        case park(HoldReason)
        /// Record the end, then write feedback and the `job` line.
        case publish
    }

    /// Where the job is.
    package private(set) var state: State
    /// What has no outcome yet.
    package private(set) var remaining: IndexRuns
    /// What became of the rest.
    package private(set) var tally: Tally
    /// Whether something of it is known to have been on a connection and come back without an outcome.
    package var wasWritten = false

    /// Creates the machine of a job that was read and claimed: it is being sent, or has ended if nothing of it can be.
    ///
    /// - Parameters:
    ///   - count: How many notifications it has.
    ///   - fault: Why nothing of it can be sent, if so.
    package init(count: Int, fault: ResultCode?) {
        guard let fault else {
            self.init(remaining: IndexRuns(0..<count), tally: Tally())
            return
        }
        self.init(concluded: Conclusion(tally: Tally(), fault: fault))
    }

    /// Creates the machine of a job that was being sent when the daemon stopped, or was held.
    package init(remaining: IndexRuns, tally: Tally) {
        self.remaining = remaining
        self.tally = tally
        self.state = remaining.isEmpty ? .settled(Conclusion(tally: tally, fault: nil)) : .sending
    }

    /// Creates the machine of a job that had ended and whose end may not have been told.
    package init(concluded conclusion: Conclusion) {
        (self.state, self.remaining, self.tally) = (.settled(conclusion), IndexRuns(), conclusion.tally)
    }

    /// Applies one event and says what the shell must do. An event that makes no sense in the state changes nothing.
    package mutating func handle(_ event: Event) -> Action? {
        count(event)
        let (next, action) = step(on: event)
        state = next
        return action
    }

    /// Keeps `remaining` and `tally`, which no state owns: a correction may come in any of them.
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

    /// Stays in its state, or ends the job when nothing remains.
    private func goingOn(fault: ResultCode?) -> (State, Action?) {
        remaining.isEmpty ? (.settled(Conclusion(tally: tally, fault: fault)), .publish) : (state, nil)
    }
}
