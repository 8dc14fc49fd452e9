package import JobFormat
package import LinuxIO
package import PushModel
import ServiceProcess
import SpoolModel
package import SpoolStore
import Synchronization

/// What this daemon knows of an app's jobs that were claimed, were sent or are under way, for all its runners of the app: the
/// app's own, and those that finish the jobs of nodes that no longer run. They share one thread.
package final class SentJobs: Sendable {
    private struct State {
        /// The refs of sent jobs; `nil` until a runner needs them.
        var book: RefBook?
        /// The signs of the jobs under way, and how often each guard has begun them.
        var turns = RefTurns()
        var begun: [Int: [JobSign: Int]] = [:]
        /// The nodes with jobs that were not examined yet: each may have any sign.
        var unexamined: Set<String> = []
        /// Files that waited for a job that has ended, and who takes them.
        var freed: Set<FileName> = []
        var wakeup: Wakeup?
        var guardCount = 0
        /// The files that were claimed in a cluster.
        var claims = RecentClaims()
    }

    private let state = Mutex(State())
    /// What is known of the app's own runner, if this is about another node's jobs; `nil` otherwise.
    private let own: SentJobs?

    /// Creates the knowledge of an app that has sent nothing.
    ///
    /// - Parameter own: What is known of the app's own runner, if this is about another node's jobs.
    package init(beside own: SentJobs? = nil) { self.own = own }

    // MARK: Claims in a cluster

    /// Records a claim, as `RecentClaims` does. Only in a cluster.
    package func noteClaim(of job: ClaimedJob, at time: WallTime, in spool: AppSpool) {
        guard spool.isClustered else { return }
        let work = spool.work
        state.withLock { $0.claims.add(job, at: time, to: work) }
    }

    /// The claims of the app's own runner, if this is about another node's jobs; none otherwise.
    package var ownClaims: RecentClaims { own?.state.withLock { $0.claims } ?? RecentClaims() }

    /// Changes the claims of the app's own runner, if this is about another node's jobs.
    package func changeOwnClaims(_ body: @Sendable (inout RecentClaims) -> Void) {
        own?.state.withLock { body(&$0.claims) }
    }

    // MARK: The refs of sent jobs

    /// Opens the refs, unless another runner has.
    ///
    /// - Throws: `SystemError`: they cannot be opened.
    package func open(
        _ app: String, in state: Directory, keeping window: Duration, of spool: Spool
    ) throws(SystemError) {
        try self.state.withLock { (known) throws(SystemError) in
            guard known.book == nil else { return }
            let book = try RefBook(of: app, in: state, keeping: window, at: .now)
            try book.follow(nodesOf: spool)
            known.book = book
        }
    }

    /// Calls `body` with the refs. Blocks.
    ///
    /// - Throws: `SystemError`: that of `body`.
    @discardableResult
    package func withRefs<Result: Sendable>(
        _ body: @Sendable (RefBook) throws(SystemError) -> Result
    ) throws(SystemError) -> Result? {
        try state.withLock { (known) throws(SystemError) -> Result? in
            guard let book = known.book else { return nil }
            return try body(book)
        }
    }

    // MARK: Jobs under way

    /// Adds a guard.
    ///
    /// - Parameter wakeup: Signalled when files that waited may be looked at again; `nil` if the guard's runner takes no files.
    /// - Returns: Its number.
    package func addGuard(_ wakeup: Wakeup?) -> Int {
        state.withLock { known in
            known.guardCount += 1
            if let wakeup { known.wakeup = wakeup }
            return known.guardCount
        }
    }

    /// Removes a guard, whose runner has ended. The next runner examines its jobs again.
    package func removeGuard(_ number: Int) {
        state.withLock { known in
            for (sign, count) in known.begun.removeValue(forKey: number) ?? [:] {
                for _ in 0..<count { known.freed.formUnion(known.turns.end(sign)) }
            }
        }
    }

    /// Whether a job with the sign is under way.
    package func isTaken(_ sign: JobSign) -> Bool { state.withLock { $0.turns.isTaken(sign) } }

    /// The signs of the jobs that are under way in one guard's runner.
    package func signs(of number: Int) -> Set<JobSign> { state.withLock { Set($0.begun[number, default: [:]].keys) } }

    /// Makes a file wait; see `RefTurns`.
    package func wait(_ name: FileName, for sign: JobSign?) -> Bool {
        state.withLock { $0.turns.wait(name, for: sign) }
    }

    /// Records that a job with the sign is under way.
    package func begin(_ sign: JobSign, _ number: Int) {
        state.withLock { known in
            known.turns.begin(sign)
            known.begun[number, default: [:]][sign, default: 0] += 1
        }
    }

    /// Reverses one call of `begin`.
    package func end(_ sign: JobSign, _ number: Int) {
        free { known in
            let count = known.begun[number]?[sign] ?? 0
            known.begun[number]?[sign] = count > 1 ? count - 1 : nil
            return known.turns.end(sign)
        }
    }

    /// Removes and returns the files that waited for other jobs and should be looked at again.
    package func takeFreed() -> Set<FileName> {
        state.withLock { known in
            defer { known.freed = [] }
            return known.freed
        }
    }

    private func free(_ body: @Sendable (inout State) -> Set<FileName>) {
        let wakeup = state.withLock { (known) -> Wakeup? in
            let names = body(&known)
            known.freed.formUnion(names)
            return names.isEmpty ? nil : known.wakeup
        }
        wakeup?.signal()
    }

    // MARK: Jobs that were not examined yet

    /// Records that a node has jobs whose signs are unknown. Until they are examined, files with a sign wait.
    package func expect(_ node: String) { state.withLock { _ = $0.unexamined.insert(node) } }

    /// Whether a job that was not examined yet may have any sign.
    package var hasUnexamined: Bool { state.withLock { !$0.unexamined.isEmpty } }

    /// Records that the signs of a node's jobs are known, or that nobody will examine them.
    package func noteExamined(_ node: String) {
        free { known in
            known.unexamined.remove(node)
            return known.unexamined.isEmpty ? known.turns.release(nil) : []
        }
    }
}
