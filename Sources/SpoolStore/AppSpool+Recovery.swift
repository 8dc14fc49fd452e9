package import JobFormat
package import LinuxIO
package import PushModel

extension AppSpool {
    /// Opens the file in `new/` that may be an earlier run's job of this name; `nil` if it does not exist or is unreadable.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package func candidate(for name: FileName) throws(SystemError) -> OpenJob? {
        switch try open(name) {
        case .opened(let job): job
        case .gone, .special, .busy, .unreadable: nil
        }
    }

    /// Writes a job to `work/<node>/` from bytes that the caller has from elsewhere. Replaces a torn file.
    ///
    /// - Throws: `SystemError`: for example ENOSPC. Call again later.
    package func restore(_ id: JobID, _ name: FileName, _ bytes: [UInt8]) throws(SystemError) -> ClaimedJob {
        let (entry, isWhole) = WorkEntry.entry(for: name, id: id)
        if !isWhole { try keepFullName(of: name, id: id) }
        try work.unlink(WorkEntry.restored(id))
        try work.write(bytes, toNew: WorkEntry.restored(id), mode: 0o640, for: .jobFile)
        guard let status = try work.status(of: WorkEntry.restored(id)) else { throw .stale("fstatat", work.path) }
        try work.rename(WorkEntry.restored(id), to: work, replacing: entry)
        guard let entry = FileName(bytes: entry) else { preconditionFailure("invalid entry name") }
        return ClaimedJob(id: id, name: name, entry: entry, status: status)
    }
}
