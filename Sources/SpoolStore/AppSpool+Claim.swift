package import APNSModel
package import LinuxIO
import SpoolModel

extension AppSpool {
    /// Moves a claimed job of which nothing was sent back to `new/`, under its own name there or the next number when that is
    /// taken; synced.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - rest: The bytes of the file in `hold/` that says when it was dropped.
    /// - Returns: The name it has there, and that of the file in `hold/`; `nil` when it is gone.
    /// - Throws: `SystemError`: EIO, ENOSPC and the like; it is where it was.
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

    /// Moves a job from `new/` to `work/<node>/`, which only one of all that try can do, and checks that it is the file
    /// that was opened.
    ///
    /// Not synced: the journal has announced it. Whatever error the rename gives, our own directory is the truth.
    ///
    /// - Throws: `SystemError`: EIO, ENOSPC and the like; the job is where it was.
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

    /// What this node has claimed and not finished, for recovery.
    ///
    /// A job that a crash left in `new/` too, the same file under the same name or a number of it, loses that name; a result
    /// file that a crash left without its job is removed. Costs a listing of `new/` if a file has another name anywhere.
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
        // Of jobs that have gone: the process died between the two. They may be torn.
        for id in wholeNames.subtracting(found.jobs.map(\.id)) { try work.unlink(WorkEntry.fullName(of: id)) }
        found.jobs.sort { $0.id.bits < $1.id.bits }
        found.strangers.sort()
        return found
    }

    /// Opens a claimed job for reading again.
    ///
    /// - Throws: `SystemError`: ENOENT when somebody took it away; EMFILE when other jobs have all descriptors.
    package func open(_ job: ClaimedJob) throws(SystemError) -> OpenJob {
        let lease = try leaseJobFile("\(work.path)/\(job.entry)")
        let file = try work.openForReading(job.entry.bytes)
        return OpenJob(name: job.name, status: try file.status(), file: file, lease: lease)
    }

    /// The error of the rename, if it gave one.
    private func move(_ name: FileName, to entry: [UInt8]) -> SystemError? {
        do {
            if hasNoReplace {
                try new.rename(name.bytes, to: work, as: entry)
            } else {
                // Nobody else can make a name with this id in it.
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

    /// Takes a claimed job's name in `new/` away if a crash left it there, now that somebody knows the whole of it: the file
    /// that has it may be lost.
    ///
    /// - Throws: `SystemError`: EIO and the like; the job may be in both places still.
    package func dropDouble(of job: ClaimedJob) throws(SystemError) {
        try dropDoubles(of: [job])
    }

    /// btrfs can bring back the old name of a rename after a power loss; so can a link whose unlink was cut off. A job on its way
    /// back to `new/` may have a number there, if its name was taken; a file by yet another name is the producer's.
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
