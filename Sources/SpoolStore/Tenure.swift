package import APNSModel
package import JournalModel
package import LinuxIO

/// A node's ownership of its jobs: how it claims them, records their outcomes, and checks that they are still its own.
///
/// `Spool` implements it for one daemon on a local filesystem. A spool shared by several nodes needs another adapter
/// with the same guarantees. Nothing else that the daemon calls may decide who owns a job.
package protocol Tenure: Sendable {
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
    /// - Returns: The outcome.
    /// - Throws: `SystemError`: the job is not ours and has not moved.
    func claim(_ job: OpenJob, as id: JobID, in app: AppSpool) throws(SystemError) -> Claim

    /// Returns the jobs that are ours, from a listing of our own directory. Never uses memory, times, or events of a watch.
    ///
    /// - Parameter app: Where to look.
    /// - Returns: The jobs, and foreign names.
    /// - Throws: `SystemError`: the directory cannot be read, which does not mean that it is empty.
    func claimed(in app: AppSpool) throws(SystemError) -> ClaimedJobs

    /// Adds a record about a job. Never blocks for a file.
    ///
    /// - Parameter record: The record.
    /// - Returns: Its position.
    /// - Throws: `JournalFault`: no room, and nothing was added; or the jobs are not ours any more.
    @discardableResult
    func append(_ record: JournalRecord) throws(JournalFault) -> JournalPosition

    /// Adds the records of a partly sent job that is about to be claimed. Never blocks for a file.
    ///
    /// - Parameters:
    ///   - header: Its header; the job is not in the journal.
    ///   - progress: What is left to send, and the outcomes so far.
    /// - Returns: The position of the last record.
    /// - Throws: `JournalFault`: as `append(_:)`.
    func adopt(_ header: JournalHeader, _ progress: JournalProgress) throws(JournalFault) -> JournalPosition

    /// Writes the added records, so that they survive the death of the process. On a network filesystem a successful
    /// write proves nothing; only a sync counts.
    ///
    /// Every write and sync must go through the descriptor that holds the lock, because a filesystem can fence only that one.
    ///
    /// - Throws: `JournalFault`: final. Nothing may be sent, renamed or recorded for these jobs any more.
    func write() throws(JournalFault)

    /// Returns once all records added before survive a power loss.
    ///
    /// - Parameters:
    ///   - isPatient: Whether to wait for a sync that other callers request or that is due.
    ///   - site: The purpose of the wait; tests can leave out single sites.
    /// - Throws: `JournalFault`: as `write()`.
    func sync(isPatient: Bool, for site: SyncSite) async throws(JournalFault)

    /// Checks that the jobs are still ours. Called about once a second on the thread for files.
    ///
    /// On a shared filesystem the call that renews the lock can block for many seconds. An adapter for one renews on a
    /// thread of its own. Here it checks whether the last successful renewal began less than a lease ago, on a clock
    /// that keeps running while the host is suspended.
    ///
    /// - Throws: `JournalFault`: as `write()`. The daemon exits with 75, and its next start is a new owner.
    func confirm() throws(JournalFault)
}

/// Ownership on a local filesystem: the rename, the journal, and the lock on the journal's descriptor, which ends with
/// the process.
extension Spool: Tenure {
    /// Renames the job and checks the result.
    ///
    /// - Throws: `SystemError`: as documented in `Tenure`.
    package func claim(_ job: OpenJob, as id: JobID, in app: AppSpool) throws(SystemError) -> Claim {
        try app.claim(job, id: id)
    }

    /// Lists `work/<node>/`.
    ///
    /// - Throws: `SystemError`: as documented in `Tenure`.
    package func claimed(in app: AppSpool) throws(SystemError) -> ClaimedJobs {
        try app.claimed()
    }

    /// Adds a record to the journal.
    ///
    /// - Throws: `JournalFault`: as documented in `Tenure`.
    @discardableResult
    package func append(_ record: JournalRecord) throws(JournalFault) -> JournalPosition {
        try journal.append(record)
    }

    /// Adds the records of a partly sent job to the journal.
    ///
    /// - Throws: `JournalFault`: as documented in `Tenure`.
    package func adopt(
        _ header: JournalHeader, _ progress: JournalProgress
    ) throws(JournalFault) -> JournalPosition {
        try journal.adopt(header, progress)
    }

    /// Writes the journal.
    ///
    /// - Throws: `JournalFault`: as documented in `Tenure`.
    package func write() throws(JournalFault) {
        try journal.write()
    }

    /// Syncs the journal.
    ///
    /// - Throws: `JournalFault`: as documented in `Tenure`.
    package func sync(isPatient: Bool, for site: SyncSite) async throws(JournalFault) {
        try await journal.sync(isPatient: isPatient, for: site)
    }

    /// Checks the journal's lock and name.
    ///
    /// - Throws: `JournalFault`: as documented in `Tenure`.
    package func confirm() throws(JournalFault) {
        try journal.confirm()
    }
}
