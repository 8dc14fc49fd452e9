import APNSModel
package import LinuxIO
package import SpoolModel

/// A file as it looked from outside, usually one in `new/` that may be a job.
package struct SeenFile: Hashable, Sendable {
    /// Its name there.
    package let name: FileName
    /// Its status then; of a symbolic link the link's own.
    package let status: FileStatus

    /// The same for deciding whether the file is ready.
    package var sighting: IntakeSighting {
        IntakeSighting(
            identity: IntakeSighting.Identity(
                device: status.device, inode: status.inode, changedAt: WallTime(nanoseconds: status.changedAt)),
            kind: status.kind == .regular ? .regular : .special, byteCount: status.byteCount,
            modifiedAt: WallTime(nanoseconds: status.modifiedAt))
    }
}

/// A file in `new/` that was opened to be read; not ours yet.
package final class OpenJob: Sendable {
    /// Its name when it was opened.
    package let name: FileName
    /// Its status right after it was opened: what a claim compares with.
    package let status: FileStatus
    /// The file, for reading.
    package let file: OpenFile
    /// Keeps the file's descriptor counted until it is closed; `nil` outside the daemon.
    private let lease: DescriptorLease?

    /// Wraps a file that was opened already.
    ///
    /// - Parameters:
    ///   - name: Its name when it was opened.
    ///   - status: Its status right after that.
    ///   - file: The file.
    ///   - lease: What counts its descriptor, where they are counted.
    package init(name: FileName, status: FileStatus, file: consuming OpenFile, lease: DescriptorLease? = nil) {
        self.name = name
        self.status = status
        self.file = file
        self.lease = lease
    }
}

/// What came of opening a file in `new/`.
package enum Opening: Sendable {
    /// It can be read.
    case opened(OpenJob)
    /// It is no longer there.
    case gone
    /// It is not a regular file, was not opened, and can never be a job: refuse it.
    case special(FileStatus.Kind)
    /// Somebody holds a write lease: try again later.
    case busy
    /// We may not read it; refuse it when it stays so.
    case unreadable(FileStatus, SystemError)
}
