package import PushModel

/// The result of `lstat` on a file in `new/`.
package struct IntakeSighting: Hashable, Sendable {
    /// The type of the directory entry.
    package enum Kind: Hashable, Sendable {
        /// A regular file.
        case regular
        /// A folder, symbolic link, pipe, socket or device; the daemon does not open it.
        case special
    }

    /// The attributes that identify one unchanged file.
    package struct Identity: Hashable, Sendable {
        /// The filesystem's device number.
        package var device: UInt64
        /// The file's inode number.
        package var inode: UInt64
        /// The file's ctime: when it was last written, renamed or linked, by the filesystem's clock.
        package var changedAt: WallTime

        /// Creates an identity.
        package init(device: UInt64, inode: UInt64, changedAt: WallTime) {
            self.device = device
            self.inode = inode
            self.changedAt = changedAt
        }
    }

    /// The file.
    package var identity: Identity
    /// The kind.
    package var kind: Kind
    /// The size in bytes.
    package var byteCount: Int64
    /// The file's mtime, which its writer can set; 0 marks an interrupted rsync.
    package var modifiedAt: WallTime

    /// Creates a sighting.
    package init(identity: Identity, kind: Kind = .regular, byteCount: Int64, modifiedAt: WallTime) {
        self.identity = identity
        self.kind = kind
        self.byteCount = byteCount
        self.modifiedAt = modifiedAt
    }

    /// Whether a later sighting is of the same file with the same bytes, as far as `lstat` shows.
    package func isUnwritten(in later: IntakeSighting) -> Bool {
        (identity.device, identity.inode) == (later.identity.device, later.identity.inode)
            && (byteCount, modifiedAt) == (later.byteCount, later.modifiedAt)
    }

    /// Whether the last change of the file was a write: a rename, a link or a change of attributes sets only the ctime.
    var wasWrittenLast: Bool { modifiedAt == identity.changedAt }

    /// Whether the mtime is 1970, which rsync gives to a file it has not finished.
    var isUnfinishedRsync: Bool { modifiedAt.epochSeconds == 0 }
}
