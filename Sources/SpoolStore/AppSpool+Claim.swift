package import JobFormat
package import LinuxIO
package import PushModel

extension AppSpool {
    /// Moves a job from `new/` to `work/<node>/`, which succeeds for only one of all contenders, and checks that it is
    /// the file that was opened.
    ///
    /// Not synced, because the journal has announced the claim. Trusts our own directory, not the error of the rename.
    ///
    /// - Parameters:
    ///   - job: The file.
    ///   - id: The node's id for it.
    ///   - ahead: What `moveAhead` did with it; `nil` to move it now.
    /// - Returns: The outcome.
    /// - Throws: `SystemError`: for example EIO or ENOSPC. The job has not moved.
    package func claim(_ job: OpenJob, id: JobID, ahead: ClaimMove.Answer? = nil) throws(SystemError) -> Claim {
        let (entry, isWhole) = WorkEntry.entry(for: job.name, id: id)
        if !isWhole { try keepFullName(of: job.name, id: id) }
        let answer = ahead ?? claimMove(job.name, to: entry)
        let (failure, status) = (answer.failure, try answer.found.get())
        guard let status, failure == nil || status.inode == job.status.inode, let entry = FileName(bytes: entry) else {
            if !isWhole { try work.unlink(WorkEntry.fullName(of: id)) }
            guard let failure else { return .gone }
            // If the job is still there, it is our folder that is missing.
            if failure.isNotFound, try new.status(of: job.name.bytes)?.inode != job.status.inode { return .gone }
            guard failure.isRefusal else { throw failure }
            return .forbidden(failure)
        }
        let claimed = ClaimedJob(id: id, name: job.name, entry: entry, status: status)
        guard isUnchanged(status, since: job.status) else {
            // Without the lease it may be another node's by now.
            guard lease?.isValid ?? true else { throw .stale("rename", work.path) }
            let name = try putBack(claimed.entry, from: work, as: claimed.name)
            try work.unlink(WorkEntry.fullName(of: id))
            return .changed(name)
        }
        return .claimed(claimed)
    }

    /// Moves jobs to `work/<node>/` side by side where each move waits for a server. `claim` does the rest, and moves the others.
    ///
    /// - Parameter jobs: The files, and the node's ids for them.
    /// - Returns: What became of the moves. Those of long names are missing, and those for which the lease has run out.
    package func moveAhead(_ jobs: @autoclosure () -> [(file: OpenJob, id: JobID)]) -> [JobID: ClaimMove.Answer] {
        guard waitsForServer else { return [:] }
        let moves = jobs().compactMap { file, id -> (id: JobID, name: FileName, entry: [UInt8])? in
            let (entry, isWhole) = WorkEntry.entry(for: file.name, id: id)
            return isWhole ? (id, file.name, entry) : nil
        }
        let results = SideBySide.map(moves) { [lease, claimMove] job in
            lease?.isValid ?? true ? claimMove(job.name, to: job.entry) : nil
        }
        return Dictionary(zip(moves, results).compactMap { move, result in result.map { (move.id, $0) } }) { $1 }
    }

    private var claimMove: ClaimMove { ClaimMove(new: new, work: work, hasNoReplace: hasNoReplace) }

    /// Makes claims survive a power loss of the file server, or of a host with several daemons. Otherwise a claimed job
    /// could be back in `new/`, where another node would take it for a new one.
    ///
    /// - Throws: `SystemError`; final, as every failed sync.
    package func syncClaims() throws(SystemError) {
        try work.sync(.claims)
        try new.sync(.claims)
    }

    /// Returns the unfinished jobs that this node has claimed, for recovery.
    ///
    /// If a crash left a job in `new/` as well (the same file under its own name or a numbered form of it), that name
    /// is removed, and so is a result file without its job. Costs a listing of `new/` if any file has a second name, and on
    /// GlusterFS if there are any jobs.
    ///
    /// - Throws: `SystemError`: the directory cannot be read.
    package func claimed() throws(SystemError) -> ClaimedJobs {
        var found = ClaimedJobs()
        var wholeNames: Set<JobID> = []
        for bytes in try work.names() {
            guard let entry = FileName(bytes: bytes), let status = try work.status(of: bytes) else { continue }
            switch WorkEntry(entry) {
            case .job(let id, let name):
                let name = try fullName(of: id) ?? name
                found.jobs.append(ClaimedJob(id: id, name: name, entry: entry, status: status))
            case .fullName(let id): wholeNames.insert(id)
            case .place(let id):
                try archives.dropUnfinished(id)
            case .restored, .result:
                try work.unlink(bytes)
            case nil:
                found.strangers.append(entry)
            }
        }
        try dropDoubles(of: found.jobs)
        // Full-name files whose job has gone: the process died between the two steps. They may be torn.
        for id in wholeNames.subtracting(found.jobs.map(\.id)) { try work.unlink(WorkEntry.fullName(of: id)) }
        found.jobs.sort { $0.id.bits < $1.id.bits }
        found.strangers.sort()
        return found
    }

    /// Returns the claimed jobs that are not among these: a rename was reported to have failed and happened all the same,
    /// as a file server may do when it restarts. Changes nothing, unlike `claimed()`, so that it can be called at any time.
    ///
    /// - Parameter isKnown: Whether a job is known. Asked for each file of the folder.
    /// - Returns: The others.
    /// - Throws: `SystemError`: the directory cannot be read.
    package func strays(unless isKnown: (JobID) -> Bool) throws(SystemError) -> [ClaimedJob] {
        var strays: [ClaimedJob] = []
        for bytes in try work.names() {
            guard let entry = FileName(bytes: bytes), case .job(let id, let name)? = WorkEntry(entry), !isKnown(id),
                let status = try work.status(of: bytes)
            else { continue }
            strays.append(ClaimedJob(id: id, name: try fullName(of: id) ?? name, entry: entry, status: status))
        }
        return strays
    }

    /// Opens a claimed job for reading again.
    ///
    /// - Throws: `SystemError`: ENOENT if another program removed it; EMFILE if other jobs use all descriptors.
    package func open(_ job: ClaimedJob) throws(SystemError) -> OpenJob {
        let lease = try jobFiles?.leaseFile("\(work.path)/\(job.entry)")
        let file = try work.openForReading(job.entry.bytes)
        return OpenJob(name: job.name, status: try file.status(), file: file, lease: lease)
    }

    func keepFullName(of name: FileName, id: JobID) throws(SystemError) {
        try work.write(name.bytes, toNew: WorkEntry.fullName(of: id), mode: 0o600, for: .fullName)
    }

    private func fullName(of id: JobID) throws(SystemError) -> FileName? {
        let bytes = try work.contentsIfThere(of: WorkEntry.fullName(of: id), limit: FileName.byteLimit)
        return bytes.flatMap(FileName.init(bytes:))
    }

    /// Removes a claimed job's name from `new/` if a crash left it there. For callers that know the full name from
    /// another source, because the file that stores it may be lost.
    ///
    /// - Throws: `SystemError`: for example EIO. The job may still be in both places.
    package func dropDouble(of job: ClaimedJob) throws(SystemError) {
        try dropDoubles(of: [job])
    }

    /// After a power loss btrfs can restore the old name of a rename; a link without its unlink has the same effect. A
    /// job on its way back to `new/` may have a numbered name there. A file with any other name is the producer's.
    private func dropDoubles(of jobs: [ClaimedJob]) throws(SystemError) {
        // The servers of GlusterFS may count differently after a rename that was cut off.
        let mayMiscount = isClustered && filesystem.description == "fuse"
        let linked = jobs.filter { $0.status.linkCount > 1 || mayMiscount }
        let links = try namesInNew(of: Set(linked.map(\.status.inode)))
        for job in linked {
            let listed = links[job.status.inode, default: []].filter { $0 == job.name || $0.isNumbered(from: job.name) }
            // On a stacked filesystem the listing may not have shown it.
            let isUnlisted = job.status.linkCount > 1 && !listed.contains(job.name)
            for name in listed + (isUnlisted ? [job.name] : []) {
                // Another node that had the job may be moving it to `new/` at this moment.
                guard try new.status(of: name.bytes)?.isSameFile(as: job.status) == true,
                    try work.status(of: job.entry.bytes)?.isSameFile(as: job.status) == true
                else { continue }
                try new.unlink(name.bytes)
            }
        }
    }

    /// Returns the names in `new/` of the files with these inodes, as far as the listing reports correct inodes.
    ///
    /// - Throws: `SystemError`: it cannot be read.
    package func namesInNew(of inodes: Set<UInt64>) throws(SystemError) -> [UInt64: [FileName]] {
        guard !inodes.isEmpty else { return [:] }
        var names: [UInt64: [FileName]] = [:]
        var listing = try new.listing()
        while let entry = try listing.next() {
            guard inodes.contains(entry.inode), let name = FileName(bytes: entry.name) else { continue }
            names[entry.inode, default: []].append(name)
        }
        return names
    }

    /// Whether a moved file is the one that was seen before, with the same bytes as far as metadata can tell.
    ///
    /// The inode alone proves little, because it is reused. The mtime is compared only on a local filesystem, because
    /// replicas of a shared one may differ in it. The ctime is not compared, because the move itself changes it.
    func isUnchanged(_ now: FileStatus, since then: FileStatus) -> Bool {
        now.kind == then.kind && now.isSameFile(as: then)
            && (filesystem.isShared || now.modifiedAt == then.modifiedAt)
    }

    /// Moves a file back to `new/` and returns its name there. If the producer has published another file by that name,
    /// both are jobs.
    func putBack(_ entry: FileName, from source: Directory, as name: FileName) throws(SystemError) -> FileName {
        var number = 1
        while true {
            do {
                try source.rename(entry.bytes, to: new, as: name.numbered(number).bytes)
                return name.numbered(number)
            } catch {
                guard error.isAlreadyThere else { throw error }
                number += 1
            }
        }
    }
}

/// The move of a job from `new/` to `work/<node>/`, on any thread.
package struct ClaimMove: Sendable {
    /// What became of it: after an error, only what is in `work/` shows that.
    package struct Answer: Sendable {
        /// The error of the rename, if any.
        let failure: SystemError?
        /// What is in `work/` now.
        let found: Result<FileStatus?, SystemError>
    }

    fileprivate let new: Directory
    fileprivate let work: Directory
    fileprivate let hasNoReplace: Bool

    fileprivate func callAsFunction(_ name: FileName, to entry: [UInt8]) -> Answer {
        let moved = Result { () throws(SystemError) in
            if hasNoReplace {
                try new.rename(name.bytes, to: work, as: entry)
            } else {
                // No other process creates a name with this id.
                try new.rename(name.bytes, to: work, replacing: entry)
            }
        }
        let found = Result { () throws(SystemError) in try work.status(of: entry) }
        if case .failure(let failure) = moved { return Answer(failure: failure, found: found) }
        return Answer(failure: nil, found: found)
    }
}
