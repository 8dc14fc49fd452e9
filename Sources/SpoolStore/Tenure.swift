package import JournalModel
package import LinuxIO
package import PushModel

/// A node's ownership of its jobs: how it claims them, records their outcomes, and checks that they are still its own.
///
/// It rests on the rename, on the journal, and on the lock on the journal's descriptor, which ends with the process. In a
/// cluster it also ends with the lease. Nothing else that the daemon calls may decide who owns a job.
extension Spool {
    /// Moves a job from `new/` into our own directory, which succeeds for only one of all contenders.
    ///
    /// An error of the rename other than ENOENT proves nothing, because the rename may have happened. Only the content of our
    /// own directory counts; it is checked before this returns. Opening an app tests, with a free name, whether a rename can
    /// refuse a taken name. If it cannot, the id in the target name ensures that no other process creates the same name.
    ///
    /// - Parameters:
    ///   - job: The file that was read, announced in a synced record.
    ///   - id: Our id for it.
    ///   - app: The app it belongs to.
    ///   - ahead: What `moveAhead` did with it; `nil` to move it now.
    /// - Returns: The outcome.
    /// - Throws: `SystemError`: the job is not ours and has not moved.
    package func claim(
        _ job: OpenJob, as id: JobID, in app: AppSpool, ahead: ClaimMove.Answer? = nil
    ) throws(SystemError) -> Claim {
        guard ahead != nil || mayAct else { return .lapsed }
        return try app.claim(job, id: id, ahead: ahead)
    }

    /// Returns the jobs that are ours, from a listing of our own directory. Never uses memory, times, or events of a watch.
    ///
    /// - Parameter app: Where to look.
    /// - Returns: The jobs, and foreign names.
    /// - Throws: `SystemError`: the directory cannot be read, which does not mean that it is empty.
    package func claimed(in app: AppSpool) throws(SystemError) -> ClaimedJobs {
        try app.claimed()
    }

    /// Adds a record about a job. Never blocks for a file.
    ///
    /// - Parameter record: The record.
    /// - Returns: Its position.
    /// - Throws: `JournalFault`: no room, and nothing was added; or the jobs are not ours any more.
    @discardableResult
    package func append(_ record: JournalRecord) throws(JournalFault) -> JournalPosition {
        try journal.append(record)
    }

    /// Adds the records of a partly sent job that is about to be claimed. Never blocks for a file.
    ///
    /// - Parameters:
    ///   - header: Its header; the job is not in the journal.
    ///   - progress: What is left to send, and the outcomes so far.
    /// - Returns: The position of the last record.
    /// - Throws: `JournalFault`: as `append(_:)`.
    package func adopt(
        _ header: JournalHeader, _ progress: JournalProgress
    ) throws(JournalFault) -> JournalPosition {
        try journal.adopt(header, progress)
    }

    /// Writes the added records, so that they survive the death of the process. On a network filesystem a successful
    /// write proves nothing; only a sync counts.
    ///
    /// Every write and sync must go through the descriptor that holds the lock, because a filesystem can fence only that one.
    ///
    /// - Throws: `JournalFault`: final. Nothing may be sent, renamed or recorded for these jobs any more.
    package func write() throws(JournalFault) {
        try journal.write()
    }

    /// Returns once all records added before survive a power loss.
    ///
    /// - Parameters:
    ///   - isPatient: Whether to wait for a sync that other callers request or that is due.
    ///   - site: The purpose of the wait; tests can leave out single sites.
    /// - Throws: `JournalFault`: as `write()`.
    package func sync(isPatient: Bool, for site: SyncSite) async throws(JournalFault) {
        try await journal.sync(isPatient: isPatient, for: site)
    }

    /// Checks that the jobs are still ours. Called about once a second on the thread for files. In a cluster the
    /// heartbeat does the same on a thread of its own, since the call can block for many seconds on a shared filesystem.
    ///
    /// - Throws: `JournalFault`: as `write()`. The daemon exits with 75, and its next start is a new owner.
    package func confirm() throws(JournalFault) {
        if let fault = journal.fault { throw .broken(fault) }
        if lease == nil { try journal.confirm() }
    }

    /// Whether the jobs are certainly ours at this moment. Any thread may ask, before each write to a gateway and before
    /// each rename. While it is `false`, nothing may be sent or moved; it may become true again.
    ///
    /// A daemon that works alone owns its jobs as long as it runs. A node of a cluster owns them until its lease runs out.
    package var mayAct: Bool { lease?.isValid ?? true }
}
