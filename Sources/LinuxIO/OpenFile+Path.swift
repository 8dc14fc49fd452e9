import Glibc

extension OpenFile {
    /// Opens a file for reading by its path, symbolic links and all: for files that the administrator names.
    ///
    /// Never waits for a writer, whatever the path names.
    /// - Throws: `SystemError`: there is none, or it may not be read. Tell the user.
    package static func open(path: String) throws(SystemError) -> OpenFile {
        let number = try FileGate.call(
            .open, path, { unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) })
        return OpenFile(try Descriptor(opened: number, "open", path), path: path)
    }
}
