package import APNSModel
package import LinuxIO
import SpoolModel

extension AppSpool {
    /// Moves a claimed job, of which no notification was sent, back to `new/` under its own name, or with the next
    /// number if that is taken; synced.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - rest: The content of its `.rest` file in `hold/`, which records when the job was dropped.
    /// - Returns: Its name in `new/` and the name of the `.rest` file; `nil` if the job is gone.
    /// - Throws: `SystemError`: for example EIO or ENOSPC. The job has not moved.
    package func giveBack(_ job: ClaimedJob, leaving rest: [UInt8]) throws(SystemError) -> ParkedFile? {
        let restName = try leave(rest, besides: job.name)
        do {
            guard let name = try publish(job.claim, from: work, as: job.name) else {
                try held.unlink(restName.bytes)
                return nil
            }
            try work.unlink(WorkEntry.fullName(of: job.id))
            return ParkedFile(name: name, rest: restName)
        } catch {
            if try work.status(of: job.entry.bytes) != nil { try held.unlink(restName.bytes) }
            throw error
        }
    }

    /// Moves a job from `new/` to `work/<node>/`, which succeeds for only one of all contenders, and checks that it is
    /// the file that was opened.
    ///
    /// Not synced, because the journal has announced the claim. Trusts our own directory, not the error of the rename.
    ///
    /// - Throws: `SystemError`: for example EIO or ENOSPC. The job has not moved.
    package func claim(_ job: OpenJob, id: JobID) throws(SystemError) -> Claim {
        let (entry, isWhole) = WorkEntry.entry(for: job.name, id: id)
        if !isWhole { try keepFullName(of: job.name, id: id) }
        let failure = move(job.name, to: entry)
        let status = try work.status(of: entry)
        guard let status, failure == nil || status.inode == job.status.inode, let entry = FileName(bytes: entry) else {
            if !isWhole { try work.unlink(WorkEntry.fullName(of: id)) }
            guard let failure, !failure.isNotFound else { return .gone }
            guard failure.isRefusal else { throw failure }
            return .forbidden(failure)
        }
        let claimed = ClaimedJob(id: id, name: job.name, entry: entry, status: status)
        guard isUnchanged(status, since: job.status) else {
            let name = try putBack(claimed.entry, from: work, as: claimed.name)
            try work.unlink(WorkEntry.fullName(of: id))
            return .changed(name)
        }
        return .claimed(claimed)
    }

    /// Returns the unfinished jobs that this node has claimed, for recovery.
    ///
    /// If a crash left a job in `new/` as well (the same file under its own name or a numbered form of it), that name
    /// is removed, and so is a result file without its job. Costs a listing of `new/` if any file has a second name.
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
                try dropUnfinished(id)
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

    /// Opens a claimed job for reading again.
    ///
    /// - Throws: `SystemError`: ENOENT if another program removed it; EMFILE if other jobs use all descriptors.
    package func open(_ job: ClaimedJob) throws(SystemError) -> OpenJob {
        let lease = try leaseJobFile("\(work.path)/\(job.entry)")
        let file = try work.openForReading(job.entry.bytes)
        return OpenJob(name: job.name, status: try file.status(), file: file, lease: lease)
    }

    /// Returns the error of the rename, if any.
    private func move(_ name: FileName, to entry: [UInt8]) -> SystemError? {
        do {
            if hasNoReplace {
                try new.rename(name.bytes, to: work, as: entry)
            } else {
                // No other process creates a name with this id.
                try new.rename(name.bytes, to: work, replacing: entry)
            }
            return nil
        } catch {
            return error
        }
    }

    func keepFullName(of name: FileName, id: JobID) throws(SystemError) {
        let file = try work.create(WorkEntry.fullName(of: id), mode: 0o600)
        try file.write(name.bytes)
        try file.sync(.fullName)
    }

    private func fullName(of id: JobID) throws(SystemError) -> FileName? {
        guard try work.status(of: WorkEntry.fullName(of: id)) != nil else { return nil }
        return try work.contents(of: WorkEntry.fullName(of: id), limit: FileName.byteLimit).flatMap(
            FileName.init(bytes:))
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
        let linked = jobs.filter { $0.status.linkCount > 1 }
        let links = try namesInNew(of: Set(linked.map(\.status.inode)))
        for job in linked {
            let others = links[job.status.inode, default: []].filter { $0.isNumbered(from: job.name) }
            for name in [job.name] + others {
                guard let other = try new.status(of: name.bytes), other.inode == job.status.inode,
                    other.device == job.status.device
                else { continue }
                try new.unlink(name.bytes)
            }
        }
    }
}
