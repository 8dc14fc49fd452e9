package import JobFormat
package import LinuxIO
import PushModel
package import SpoolModel

/// A file as seen without opening it, usually one in `new/` that may be a job.
package struct SeenFile: Hashable, Sendable {
    /// Its name in the folder.
    package let name: FileName
    /// Its status at that time; for a symbolic link, the status of the link itself.
    package let status: FileStatus

    /// The same data in the form that decides whether the file is ready.
    package var sighting: IntakeSighting { IntakeSighting(status) }
}

extension IntakeSighting {
    /// Creates a sighting from a file's status.
    package init(_ status: FileStatus) {
        self.init(
            identity: Identity(
                device: status.device, inode: status.inode, changedAt: WallTime(nanoseconds: status.changedAt)),
            kind: status.kind == .regular ? .regular : .special, byteCount: status.byteCount,
            modifiedAt: WallTime(nanoseconds: status.modifiedAt))
    }
}

extension SeenFile {
    /// Moves a file unless another file has the new name. After an error, the content of the directories decides.
    ///
    /// Returns `false` if the name is taken. The same file under both names is an interrupted move, which it completes.
    func move(
        from source: Directory, to target: Directory, as name: FileName
    ) throws(SystemError) -> Bool {
        do {
            try source.rename(self.name.bytes, to: target, as: name.bytes)
            return true
        } catch {
            let there = try target.status(of: name.bytes)
            if let there, there.inode == status.inode, there.device == status.device {
                try source.unlink(self.name.bytes)
                return true
            }
            if error.isAlreadyThere { return false }
            throw error
        }
    }
}

/// A file in `new/` that was opened for reading but is not claimed yet.
package final class OpenJob: Sendable {
    /// Its name when it was opened.
    package let name: FileName
    /// Its status right after it was opened. A claim compares against it.
    package let status: FileStatus
    /// The file, for reading.
    package let file: OpenFile
    /// Counts the file's descriptor until it is closed; `nil` outside the daemon.
    private let lease: DescriptorLease?

    /// Wraps an open file.
    ///
    /// - Parameters:
    ///   - name: Its name when it was opened.
    ///   - status: Its status right after that.
    ///   - file: The file.
    ///   - lease: Counts its descriptor, where descriptors are counted.
    package init(name: FileName, status: FileStatus, file: consuming OpenFile, lease: DescriptorLease? = nil) {
        self.name = name
        self.status = status
        self.file = file
        self.lease = lease
    }
}

/// The result of opening a file in `new/`.
package enum Opening: Sendable {
    /// It can be read.
    case opened(OpenJob)
    /// It does not exist any more.
    case gone
    /// It is not a regular file and was not opened. It can never be a job: refuse it.
    case special(FileStatus.Kind)
    /// Another process holds a write lease: try again later.
    case busy
    /// Permission denied. Refuse the file if this persists.
    case unreadable(FileStatus, SystemError)
}
