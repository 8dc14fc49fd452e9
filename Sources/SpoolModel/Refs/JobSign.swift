/// What tells that two jobs of an app are the same.
package enum JobSign: Hashable, Sendable {
    /// What their producer calls them: the `id:`.
    case ref(String)
    /// The `sum` of their files.
    case file([UInt8])
}

/// What tells a job's file from all that are not a copy of it.
package struct FileSign: Hashable, Sendable {
    /// SHA-256 over its name, its modification time and its bytes: 32 bytes.
    package let sum: [UInt8]
    /// Its inode: a file that `mv` brings back has kept it, and is no copy.
    package let inode: UInt64
    /// When the file was made, in nanoseconds since 1970, if its filesystem knows: an inode is given to another file as soon
    /// as one is deleted.
    package let bornAt: Int64?

    /// Creates the sign of a file.
    package init(sum: [UInt8], inode: UInt64, bornAt: Int64?) {
        (self.sum, self.inode, self.bornAt) = (sum, inode, bornAt)
    }
}
