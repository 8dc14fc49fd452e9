package import APNSModel
package import LinuxIO
package import SpoolModel

/// What makes a node's jobs its own: how it claims them, keeps what became of them, and knows that they still are.
///
/// One daemon on a local filesystem is the first to meet it (`Spool`). Where several nodes share a spool, another adapter
/// does, on the same terms; nothing else that the daemon calls may decide whose a job is.
package protocol Tenure: Sendable {
    /// Moves a job from `new/` into our own directory, which only one of all that try can do.
    ///
    /// An error of the rename other than ENOENT says nothing: the rename may have happened. What is in our own directory
    /// is the truth, and is looked at before anything is returned. Where a rename cannot refuse a taken name, which is
    /// tried on a free name when the app is opened, the target is a name that nobody else makes; the id in it does that.
    ///
    /// - Parameters:
    ///   - job: The file that was read, announced in a synced record.
    ///   - id: Our name of it.
    ///   - app: Where it is.
    /// - Returns: What came of it.
    /// - Throws: `SystemError`: it is not ours; it is where it was.
    func claim(_ job: OpenJob, as id: JobID, in app: AppSpool) throws(SystemError) -> Claim

    /// What is ours, by a listing of our own directory: never by memory, times, or what a watch told.
    ///
    /// - Parameter app: Where to look.
    /// - Returns: The jobs, and what else is there.
    /// - Throws: `SystemError`: the directory cannot be read, which does not mean that it is empty.
    func claimed(in app: AppSpool) throws(SystemError) -> ClaimedJobs

    /// Adds a record of what became of a job; never blocks for a file.
    ///
    /// - Parameter record: The record.
    /// - Returns: Its position.
    /// - Throws: `JournalFault`: no room, and nothing was added; or the jobs are not ours any more.
    @discardableResult
    func append(_ record: JournalRecord) throws(JournalFault) -> JournalPosition

    /// Adds the records of a job that is about to be claimed, and of which something was sent before; never blocks for a file.
    ///
    /// - Parameters:
    ///   - header: Its header; the job is not in the journal.
    ///   - progress: What is left of it, and what became of the rest.
    /// - Returns: The position of the last of them.
    /// - Throws: `JournalFault`: as `append(_:)`.
    func adopt(_ header: JournalHeader, _ progress: JournalProgress) throws(JournalFault) -> JournalPosition

    /// Writes what was added, so that the death of the process loses none of it. On a network filesystem success says
    /// nothing; only a sync's counts.
    ///
    /// Every write and sync goes through the descriptor that has the lock: a filesystem can fence that one, and no other.
    ///
    /// - Throws: `JournalFault`: final; nothing may be sent, renamed or recorded for these jobs any more.
    func write() throws(JournalFault)

    /// Returns when all that was added before outlives a loss of power.
    ///
    /// - Parameters:
    ///   - isPatient: Whether to wait for a sync that others ask for, or that is due.
    ///   - site: What is waited for, by which tests can leave it out.
    /// - Throws: `JournalFault`: as `write()`.
    func sync(isPatient: Bool, for site: SyncSite) async throws(JournalFault)

    /// Makes sure that the jobs are still ours; called about once a second, on the thread for files.
    ///
    /// On a shared filesystem the call that renews the lock can block for many seconds. An adapter for one makes it on a
    /// thread of its own, and here says whether the last that succeeded began less than a lease ago, on a clock that
    /// runs on while the host sleeps.
    ///
    /// - Throws: `JournalFault`: as `write()`; the daemon ends with 75, and its next start is a new holder.
    func confirm() throws(JournalFault)
}

/// On a filesystem of this host: the rename, the journal, and the lock on the journal's descriptor, which ends with the
/// process.
extension Spool: Tenure {
    /// Renames it, and looks.
    ///
    /// - Throws: `SystemError`: as `Tenure` says.
    package func claim(_ job: OpenJob, as id: JobID, in app: AppSpool) throws(SystemError) -> Claim {
        try app.claim(job, id: id)
    }

    /// Lists `work/<node>/`.
    ///
    /// - Throws: `SystemError`: as `Tenure` says.
    package func claimed(in app: AppSpool) throws(SystemError) -> ClaimedJobs {
        try app.claimed()
    }

    /// Adds a record to the journal.
    ///
    /// - Throws: `JournalFault`: as `Tenure` says.
    @discardableResult
    package func append(_ record: JournalRecord) throws(JournalFault) -> JournalPosition {
        try journal.append(record)
    }

    /// Adds the records of a job of which something was sent before to the journal.
    ///
    /// - Throws: `JournalFault`: as `Tenure` says.
    package func adopt(
        _ header: JournalHeader, _ progress: JournalProgress
    ) throws(JournalFault) -> JournalPosition {
        try journal.adopt(header, progress)
    }

    /// Writes the journal.
    ///
    /// - Throws: `JournalFault`: as `Tenure` says.
    package func write() throws(JournalFault) {
        try journal.write()
    }

    /// Syncs the journal.
    ///
    /// - Throws: `JournalFault`: as `Tenure` says.
    package func sync(isPatient: Bool, for site: SyncSite) async throws(JournalFault) {
        try await journal.sync(isPatient: isPatient, for: site)
    }

    /// Looks at the journal's lock and name.
    ///
    /// - Throws: `JournalFault`: as `Tenure` says.
    package func confirm() throws(JournalFault) {
        try journal.confirm()
    }
}
