package import APNSModel

/// What `lstat` said of a file in `new/`.
package struct IntakeSighting: Hashable, Sendable {
    /// What kind of thing has the name.
    package enum Kind: Hashable, Sendable {
        /// A regular file.
        case regular
        /// A folder, symbolic link, pipe, socket or device: never opened.
        case special
    }

    /// What makes two files the same one, unchanged.
    package struct Identity: Hashable, Sendable {
        /// The filesystem's number.
        package var device: UInt64
        /// The file's number on it.
        package var inode: UInt64
        /// When the file was last written, renamed or linked, by the filesystem's own clock.
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
    /// What its writer says it was last written at; 0 marks an interrupted rsync.
    package var modifiedAt: WallTime

    /// Creates a sighting.
    package init(identity: Identity, kind: Kind = .regular, byteCount: Int64, modifiedAt: WallTime) {
        self.identity = identity
        self.kind = kind
        self.byteCount = byteCount
        self.modifiedAt = modifiedAt
    }

    /// Whether the time of writing is 1970, which rsync gives to a file it did not finish.
    var isUnfinishedRsync: Bool { modifiedAt.epochSeconds == 0 }
}
