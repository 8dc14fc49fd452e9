package import APNSModel
package import LinuxIO
package import SpoolModel

extension AppSpool {
    /// Opens a file in `new/` that may be a job of an earlier run by this name; `nil` when there is none that can be read.
    ///
    /// - Throws: `SystemError`: EIO and the like.
    package func candidate(for name: FileName) throws(SystemError) -> OpenJob? {
        switch try open(name) {
        case .opened(let job): job
        case .gone, .special, .busy, .unreadable: nil
        }
    }

    /// What stands in a place that was given to a job.
    ///
    /// - Throws: `SystemError`: the archive cannot be read.
    package func archived(at place: ArchivePlace) throws(SystemError) -> FileStatus? {
        guard let day = try openDayIfThere(place.archiveDay) else { return nil }
        return try day.status(of: place.name.bytes)
    }

    /// The bytes of the file in a place in an archive; `nil` when there is none, or it is longer than `limit`.
    ///
    /// - Throws: `SystemError`: EIO and the like.
    package func contents(at place: ArchivePlace, limit: Int) throws(SystemError) -> [UInt8]? {
        guard let day = try openDayIfThere(place.archiveDay) else { return nil }
        do {
            return try day.contents(of: place.name.bytes, limit: limit)
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    /// Writes a job to `work/<node>/` whose bytes are known from elsewhere; a torn file in its place goes.
    ///
    /// - Throws: `SystemError`: ENOSPC and the like; call again later.
    package func restore(_ id: JobID, _ name: FileName, _ bytes: [UInt8]) throws(SystemError) -> ClaimedJob {
        let (entry, isWhole) = WorkEntry.entry(for: name, id: id)
        if !isWhole { try keepFullName(of: name, id: id) }
        try work.unlink(WorkEntry.restored(id))
        let file = try work.create(WorkEntry.restored(id), mode: 0o640)
        try file.write(bytes)
        try file.sync(.jobFile)
        let status = try file.status()
        try file.closeNow()
        try work.rename(WorkEntry.restored(id), to: work, replacing: entry)
        guard let entry = FileName(bytes: entry) else { preconditionFailure("an entry that is no name") }
        return ClaimedJob(id: id, name: name, entry: entry, status: status)
    }
}
