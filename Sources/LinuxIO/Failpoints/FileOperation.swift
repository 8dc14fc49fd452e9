/// A kind of file operation that failpoints can count and fail.
package enum FileOperation: String, Hashable, Sendable {
    /// Opening an existing file, directory or listing.
    case open
    /// Creating a file.
    case create
    /// Creating a directory.
    case makeDirectory
    /// Creating a symbolic link.
    case makeSymbolicLink
    /// Renaming, with or without replacing the new name.
    case rename
    /// Creating a hard link.
    case link
    /// Removing a name, also of a directory.
    case unlink
    /// Reading bytes.
    case read
    /// Writing bytes at the file offset.
    case write
    /// Writing bytes at a given position.
    case pwrite
    /// Allocating space for a file before it is written.
    case allocate
    /// Punching a hole into a file.
    case punch
    /// fsync(2), of a file or a directory.
    case sync
    /// fdatasync(2).
    case syncData
    /// syncfs(2).
    case syncFilesystem
    /// Reading a block of names.
    case list
    /// Reading the status of a file.
    case status
    /// Reading the type and free space of a filesystem.
    case filesystem
    /// Setting permission bits or attributes.
    case setMode
    /// Taking a lock.
    case lock
    /// Taking a read lease.
    case lease
    /// A close whose result is checked.
    case close

    /// Whether it can fail because the volume is full.
    package var needsSpace: Bool {
        switch self {
        case .create, .makeDirectory, .makeSymbolicLink, .rename, .link, .write, .pwrite, .allocate: true
        case .open, .unlink, .read, .punch, .sync, .syncData, .syncFilesystem, .list, .status, .filesystem, .setMode,
            .lock, .lease, .close:
            false
        }
    }
}
