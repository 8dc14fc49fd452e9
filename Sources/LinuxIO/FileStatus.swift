import CLinux
import Glibc

/// The kernel's metadata of a file, read without opening it (stat(2)).
package struct FileStatus: Hashable, Sendable {
    /// The type of a file.
    package enum Kind: String, Hashable, Sendable {
        /// A regular file, the only type that can be a job.
        case regular = "regular file"
        /// A folder.
        case directory = "directory"
        /// A symbolic link, never followed.
        case symbolicLink = "symbolic link"
        /// A FIFO.
        case pipe = "named pipe"
        /// A Unix domain socket.
        case socket = "socket"
        /// A block or character device.
        case device = "device"
        /// Any other type.
        case other = "special file"
    }

    /// The file type.
    package let kind: Kind
    /// The length in bytes.
    package let byteCount: Int64
    /// The device of its filesystem. Together with `inode` it identifies the file while that exists.
    package let device: UInt64
    /// The inode number.
    package let inode: UInt64
    /// How many names the file has.
    package let linkCount: UInt64
    /// The user id of its owner.
    package let owner: UInt32
    /// The group id of its group.
    package let group: UInt32
    /// The permission bits, 0 to 0o7777.
    package let mode: UInt32
    /// When its bytes last changed (mtime, which a producer can set to any value): nanoseconds since 1970, saturating.
    package let modifiedAt: Int64
    /// When anything about it last changed (ctime, set by the kernel): nanoseconds since 1970, saturating.
    package let changedAt: Int64

    /// Whether both are the same file with the same length.
    package func isSameFile(as other: FileStatus) -> Bool {
        device == other.device && inode == other.inode && byteCount == other.byteCount
    }

    init(_ raw: stat) {
        kind = Kind(mode: raw.st_mode)
        byteCount = Int64(raw.st_size)
        device = UInt64(raw.st_dev)
        inode = UInt64(raw.st_ino)
        linkCount = UInt64(raw.st_nlink)
        owner = raw.st_uid
        group = raw.st_gid
        mode = raw.st_mode & 0o7777
        modifiedAt = nanoseconds(raw.st_mtim)
        changedAt = nanoseconds(raw.st_ctim)
    }
}

/// The identity of a file among all files of the machine, while it exists.
package struct FileIdentity: Hashable, Sendable {
    /// The device of its filesystem.
    package let device: UInt64
    /// The inode number.
    package let inode: UInt64

    init(device: UInt64, inode: UInt64) {
        (self.device, self.inode) = (device, inode)
    }
}

extension FileStatus {
    /// The file's identity.
    package var identity: FileIdentity { FileIdentity(device: device, inode: inode) }
}

extension FileStatus.Kind {
    init(mode: mode_t) {
        switch mode & S_IFMT {
        case S_IFREG: self = .regular
        case S_IFDIR: self = .directory
        case S_IFLNK: self = .symbolicLink
        case S_IFIFO: self = .pipe
        case S_IFSOCK: self = .socket
        case S_IFBLK, S_IFCHR: self = .device
        default: self = .other
        }
    }
}

private func nanoseconds(_ time: timespec) -> Int64 {
    Int64(clampingNanoseconds: Int64(time.tv_sec), Int64(time.tv_nsec))
}
