/// A sign by which two jobs of an app are recognized as the same.
package enum JobSign: Hashable, Sendable {
    /// The producer's `id:`.
    case ref(String)
    /// The `sum` of the job's file.
    case file([UInt8])
}

/// The identity of a job's file, shared only by its copies.
package struct FileSign: Hashable, Sendable {
    /// SHA-256 of its name, its modification time and its bytes: 32 bytes.
    package let sum: [UInt8]
    /// Its inode. A file that `mv` brings back has the same inode, and is not a copy.
    package let inode: UInt64
    /// The file's birth time in nanoseconds since 1970, if the filesystem provides it. Needed because the inode of a
    /// deleted file may be reused at once.
    package let bornAt: Int64?

    /// Creates the sign of a file.
    package init(sum: [UInt8], inode: UInt64, bornAt: Int64?) {
        (self.sum, self.inode, self.bornAt) = (sum, inode, bornAt)
    }
}
