/// One change to a file tree that a file operation made, as traces tell it.
///
/// Directories go by their path, files by their inode: they are written under names that they have lost since.
package enum FileChange: Hashable, Sendable {
    /// A directory was made.
    case madeDirectory(directory: String, name: [UInt8])
    /// A file was made.
    case created(directory: String, name: [UInt8], file: UInt64)
    /// A file that was there was opened: this is its inode.
    case opened(directory: String, name: [UInt8], file: UInt64)
    /// A name was moved; what had the new name has lost it.
    case renamed(directory: String, name: [UInt8], toDirectory: String, newName: [UInt8])
    /// A file got a second name.
    case linked(directory: String, name: [UInt8], toDirectory: String, newName: [UInt8])
    /// A name was removed.
    case removed(directory: String, name: [UInt8])
    /// Bytes were written.
    case written(file: UInt64, offset: Int64, bytes: [UInt8])
    /// The file has at least this many bytes now, zeros where nothing was.
    case allocated(file: UInt64, byteCount: Int64)
    /// A part of the file reads as zeros now.
    case punched(file: UInt64, offset: Int64, byteCount: Int64)
    /// A file's bytes and length were synced.
    case syncedFile(UInt64)
    /// A directory's names were synced.
    case syncedDirectory(String)
    /// The whole filesystem was synced.
    case syncedAll
}
