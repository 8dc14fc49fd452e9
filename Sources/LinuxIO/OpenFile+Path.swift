import Glibc

extension OpenFile {
    /// Opens a file for reading by its path and follows symbolic links. For files that the administrator names.
    ///
    /// Never blocks, whatever kind of file it is.
    /// - Throws: `SystemError`: the file does not exist or may not be read. Report it to the user.
    package static func open(path: String) throws(SystemError) -> OpenFile {
        let number = try FileGate.call(
            .open, path, { unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) })
        return OpenFile(try Descriptor(opened: number, "open", path), path: path)
    }
}
