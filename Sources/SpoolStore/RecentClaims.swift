import JobFormat
package import JournalModel
package import LinuxIO
package import PushModel

/// The files that a node of a cluster has claimed last. They show which file in a dead node's `work/` is this node's own job.
///
/// A rename that is cut off may have reached only some of the servers of a replicated filesystem. It fails, and another node
/// claims the file. When the servers compare, the file gets the name in the dead node's `work/` as well.
package struct RecentClaims: Sendable {
    private struct Claim {
        let job: ClaimedJob
        let claimedAt: WallTime
    }

    /// At least so many are remembered, and at most twice as many: more than a node claims during a takeover.
    private static let limit = 10_000

    /// The claims by inode, and those before them.
    private var latest: [UInt64: Claim] = [:]
    private var earlier: [UInt64: Claim] = [:]
    /// The node's folder in `work/`, as it was opened last.
    private var work: Directory?
    /// Other nodes' jobs that were announced and not found in their `work/`, where they may still appear.
    private var unfound: [JobID: JournalJob] = [:]

    /// Creates an empty list.
    package init() {}

    /// Adds a claim.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - time: The time of the claim in the journal.
    ///   - work: Where it was claimed to.
    package mutating func add(_ job: ClaimedJob, at time: WallTime, to work: Directory) {
        if latest.count == Self.limit { (earlier, latest) = (latest, [:]) }
        latest[job.status.inode] = Claim(job: job, claimedAt: time)
        self.work = work
    }

    /// Records a job that another node has announced, that was not found, and that the node's journal forgets. The first 10,000.
    package mutating func note(unfound job: JournalJob) {
        if unfound.count < Self.limit { unfound[job.facts.id] = job }
    }

    /// Whether this node has, or has archived, a file that another node has in its `work/`. Blocks, if it was claimed.
    ///
    /// Only where the other node did nothing but announce a claim, this one claimed the file more than a lease later, and it has no
    /// third name. A file that was claimed before, or has one, may be another job, linked into `new/` again.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - job: What the other node's journal says of it, if anything.
    ///   - spool: The app's folders, as opened in the other node's place.
    ///   - time: The time of day.
    /// - Returns: `false` also if the lease on the other node's jobs has run out.
    /// - Throws: `SystemError`: a folder cannot be read.
    package func hasJob(_ file: ClaimedJob, of job: JournalJob?, in spool: AppSpool, at time: WallTime)
        throws(SystemError) -> Bool
    {
        guard let job = job ?? unfound[file.id], job.isOnlyAnnounced, let lease = spool.lease, lease.isValid,
            let claim = latest[file.status.inode] ?? earlier[file.status.inode], claim.job.name == job.facts.name,
            job.facts.inode == file.status.inode, file.status.linkCount <= 2,
            claim.claimedAt - job.facts.claimedAt > lease.length
        else { return false }
        if try work?.status(of: claim.job.entry.bytes)?.isSameFile(as: file.status) == true { return true }
        for day in Set([claim.claimedAt.day, time.day]) {
            for folder in [ArchiveFolder.done, .failed] {
                let place = ArchivePlace(folder: folder, day: day, name: claim.job.name)
                let found = try spool.archives.file(of: claim.job.name, at: place) { there, _ in
                    there.isSameFile(as: file.status)
                }
                if found != nil { return true }
            }
        }
        return false
    }
}

extension JournalJob {
    /// Whether nothing shows that its file was moved to `work/`.
    fileprivate var isOnlyAnnounced: Bool {
        !isTouched && !isDamaged && !hasUntold
    }
}
