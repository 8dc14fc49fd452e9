package import JobFormat
package import LinuxIO
package import PushModel

/// A job that this node owns: it is in `work/<node>/`, under the node's id for it.
package struct ClaimedJob: Hashable, Sendable {
    /// The id that this node gave it.
    package let id: JobID
    /// The name it was dropped by.
    package let name: FileName
    /// Its name in `work/<node>/`.
    package let entry: FileName
    /// Its status when it was claimed or found there.
    package let status: FileStatus

    /// Returns the same job under the name recorded in the journal, because the entry's name may be cut.
    package func called(_ name: FileName) -> ClaimedJob {
        ClaimedJob(id: id, name: name, entry: entry, status: status)
    }

    /// Whether the entry contains the whole name; if not, a separate file stores it.
    var hasWholeName: Bool { WorkEntry.hasWhole(name, in: entry) }

    /// The file to move, under its current name.
    var claim: SeenFile { SeenFile(name: entry, status: status) }
}

/// The result of a claim.
package enum Claim: Hashable, Sendable {
    /// The job is ours.
    case claimed(ClaimedJob)
    /// Another node claimed it, or another program removed it.
    case gone
    /// The file was not the one that was opened, or was changed since. It is back in `new/` under this name.
    case changed(FileName)
    /// The node's lease has run out, so nothing was moved: try again once it is renewed.
    case lapsed
    /// Permission denied (EPERM, EACCES, EROFS), so the job must not be sent: leave it, warn once, back off.
    case forbidden(SystemError)
}

/// The content of `work/<node>/` at startup.
package struct ClaimedJobs: Hashable, Sendable {
    /// The jobs, in the order of their ids.
    package var jobs: [ClaimedJob] = []
    /// Foreign names: report them and leave them alone.
    package var strangers: [FileName] = []
}
