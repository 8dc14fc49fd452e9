import JobFormat
package import LinuxIO
package import PushModel

/// A job's result file, or its `.rest` file, that is not at its final place yet.
package struct ResultDraft: Sendable {
    /// The id of its job.
    package let id: JobID
    /// The file's content.
    package let bytes: [UInt8]

    /// Creates a draft.
    package init(of id: JobID, _ bytes: [UInt8]) {
        (self.id, self.bytes) = (id, bytes)
    }

    /// Writes and syncs the draft in `work/<node>/`, which no other program reads and where every start cleans up.
    /// Blocks for the disk.
    ///
    /// - Throws: `SystemError`: for example ENOSPC or EIO. Call again later.
    package func stage(in work: Directory) throws(SystemError) {
        // Left by an earlier attempt.
        try work.unlink(WorkEntry.result(of: id))
        try work.write(bytes, toNew: WorkEntry.result(of: id), mode: 0o640, for: .resultFile)
    }
}
