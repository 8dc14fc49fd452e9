/// One change to a file tree, as recorded in a trace.
///
/// Directories are identified by path and files by inode, because a file may have been renamed since it was opened.
package enum FileChange: Hashable, Sendable {
    /// A directory was created.
    case madeDirectory(directory: String, name: [UInt8])
    /// A file was created.
    case created(directory: String, name: [UInt8], file: UInt64)
    /// An existing file was opened; this is its inode.
    case opened(directory: String, name: [UInt8], file: UInt64)
    /// A name was moved. A file that had the new name before has lost it.
    case renamed(directory: String, name: [UInt8], toDirectory: String, newName: [UInt8])
    /// A file got a second name.
    case linked(directory: String, name: [UInt8], toDirectory: String, newName: [UInt8])
    /// A name was removed.
    case removed(directory: String, name: [UInt8])
    /// Bytes were written.
    case written(file: UInt64, offset: Int64, bytes: [UInt8])
    /// The file is at least this long now, with zeros where nothing was written.
    case allocated(file: UInt64, byteCount: Int64)
    /// A range of the file reads as zeros now.
    case punched(file: UInt64, offset: Int64, byteCount: Int64)
    /// A file's bytes and length were synced.
    case syncedFile(UInt64)
    /// A directory's names were synced.
    case syncedDirectory(String)
    /// The whole filesystem was synced.
    case syncedAll
}
