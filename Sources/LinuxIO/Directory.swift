import CLinux
import Glibc

/// An open directory. Every operation is relative to it, so renaming or swapping what is above it changes nothing.
///
/// Names are bytes, one component each; a name with a slash or NUL, or `.` or `..`, is refused with EINVAL. Every call
/// blocks and belongs on a worker thread.
package final class Directory: Sendable {
    let descriptor: Descriptor

    /// The path it was opened by, for messages only.
    package let path: String

    init(adopting number: Int32, path: String) {
        descriptor = Descriptor(adopting: number)
        self.path = path
    }

    /// Opens the directory at `path`, through symbolic links if the operator put some there.
    ///
    /// - Throws: `SystemError`: ENOENT, ENOTDIR, EACCES as open(2) says; the path is the operator's to correct.
    package static func open(path: String) throws(SystemError) -> Directory {
        let number = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw .last("open", path) }
        return Directory(adopting: number, path: path)
    }

    /// Opens the directory called `name`; never through a symbolic link.
    ///
    /// - Throws: `SystemError`: ENOENT when it is not there, ENOTDIR or ELOOP when it is something else.
    package func openChild(_ name: [UInt8]) throws(SystemError) -> Directory {
        let component = try ComponentName(name, for: "openat")
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let number = unsafe openat(descriptor.rawValue, component.bytes, flags)
        guard number >= 0 else { throw .last("openat", subject(name)) }
        return Directory(adopting: number, path: subject(name))
    }

    /// Opens the directory called `name` and makes it before if it is not there, with exactly `mode` whatever the umask.
    ///
    /// The mode of one that is there already is the operator's and stays. A new one is synced into this directory.
    ///
    /// - Throws: `SystemError`: what mkdirat(2), fchmod(2), fsync(2) or `openChild` say.
    package func makeChild(_ name: [UInt8], mode: UInt32) throws(SystemError) -> Directory {
        let component = try ComponentName(name, for: "mkdirat")
        let isNew = unsafe mkdirat(descriptor.rawValue, component.bytes, mode & 0o700) == 0
        guard isNew || errno == EEXIST else { throw .last("mkdirat", subject(name)) }
        let child = try openChild(name)
        if isNew {
            try child.setMode(mode)
            try sync()
        }
        return child
    }

    /// Sets its permission bits.
    ///
    /// - Throws: `SystemError`, usually EPERM: it is not ours.
    package func setMode(_ mode: UInt32) throws(SystemError) {
        guard fchmod(descriptor.rawValue, mode) == 0 else { throw .last("fchmod", path) }
    }

    /// Its own status.
    ///
    /// - Throws: `SystemError`: EIO, ESTALE or ENOTCONN from the filesystem.
    package func status() throws(SystemError) -> FileStatus {
        var raw = stat()
        guard unsafe fstat(descriptor.rawValue, &raw) == 0 else { throw .last("fstat", path) }
        return FileStatus(raw)
    }

    /// The status of what is called `name`, a symbolic link's own; `nil` when nothing is.
    ///
    /// - Throws: `SystemError`: anything but ENOENT.
    package func status(of name: [UInt8]) throws(SystemError) -> FileStatus? {
        let component = try ComponentName(name, for: "fstatat")
        var raw = stat()
        if unsafe fstatat(descriptor.rawValue, component.bytes, &raw, AT_SYMLINK_NOFOLLOW) == 0 {
            return FileStatus(raw)
        }
        guard errno == ENOENT else { throw .last("fstatat", subject(name)) }
        return nil
    }

    /// Makes what was renamed, made or removed here survive a power loss (fsync(2)).
    ///
    /// - Throws: `SystemError`; a failed sync is final and must not be tried again: reopen and read what is there.
    package func sync() throws(SystemError) {
        while fsync(descriptor.rawValue) != 0 {
            guard errno == EINTR else { throw .last("fsync", path) }
        }
    }

    /// The name with this directory's path before it, for messages.
    func subject(_ name: [UInt8]) -> String {
        path + "/" + printable(name)
    }
}
