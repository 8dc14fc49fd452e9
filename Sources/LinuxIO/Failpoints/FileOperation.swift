/// A kind of file operation, as failpoints count and refuse them.
package enum FileOperation: String, Hashable, Sendable {
    /// Opening what is there: a file, a directory, a listing.
    case open
    /// Making a file.
    case create
    /// Making a directory.
    case makeDirectory
    /// Making a symbolic link.
    case makeSymbolicLink
    /// Renaming, whether or not a taken name is replaced.
    case rename
    /// Giving a second name.
    case link
    /// Removing a name, a directory's too.
    case unlink
    /// Reading bytes.
    case read
    /// Writing bytes where the last write ended.
    case write
    /// Writing bytes at a place.
    case pwrite
    /// Giving a file its space before it is written.
    case allocate
    /// Taking space out of a file.
    case punch
    /// fsync(2), of a file or a directory.
    case sync
    /// fdatasync(2).
    case syncData
    /// syncfs(2).
    case syncFilesystem
    /// Reading a block of names.
    case list
    /// Looking at a status.
    case status
    /// Looking at a filesystem's type and room.
    case filesystem
    /// Setting permission bits or attributes.
    case setMode
    /// Taking a lock.
    case lock
    /// Taking a read lease.
    case lease
    /// Closing where somebody asks what came of it.
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
