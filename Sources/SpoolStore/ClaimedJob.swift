package import APNSModel
package import LinuxIO
package import SpoolModel

/// A job that is ours: in `work/<node>/`, under our id.
package struct ClaimedJob: Hashable, Sendable {
    /// Our name of it.
    package let id: JobID
    /// The name it was dropped by.
    package let name: FileName
    /// The name it has in `work/<node>/`.
    package let entry: FileName
    /// Its status when it was claimed or found there.
    package let status: FileStatus

    /// The same job by the name that the journal knows: the entry's may be cut.
    package func called(_ name: FileName) -> ClaimedJob {
        ClaimedJob(id: id, name: name, entry: entry, status: status)
    }

    /// Whether the entry has all of the name; else the rest is in a file of its own.
    var hasWholeName: Bool { WorkEntry.hasWhole(name, in: entry) }

    /// The file to move, by the name it has now.
    var claim: SeenFile { SeenFile(name: entry, status: status) }
}

/// What came of a claim.
package enum Claim: Hashable, Sendable {
    /// It is ours.
    case claimed(ClaimedJob)
    /// Somebody else has claimed or removed it.
    case gone
    /// It was not the file that was opened, or not all of it any more, and is back in `new/` under this name.
    case changed(FileName)
    /// We may not move it (EPERM, EACCES, EROFS), so it must not be sent: leave it, warn once, back off.
    case forbidden(SystemError)
}

/// What `work/<node>/` holds at a start.
package struct ClaimedJobs: Hashable, Sendable {
    /// The jobs, in the order of their ids.
    package var jobs: [ClaimedJob] = []
    /// Names that we never gave: reported, and left alone.
    package var strangers: [FileName] = []
}
