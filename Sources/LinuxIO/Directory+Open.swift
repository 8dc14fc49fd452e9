import CLinux
import Glibc

extension Directory {
    /// Opens a file for reading without ever following a link, leaving this directory or this mount, or waiting.
    ///
    /// Uses openat2(2), and openat(2) with O_NOFOLLOW where a kernel or a sandbox has none. Look at the status first:
    /// opening a device can have effects.
    ///
    /// - Throws: `SystemError`: ENOENT, ELOOP (a symbolic link), EXDEV (another mount), EACCES, EAGAIN (somebody holds a
    ///   write lease: try again later).
    package func openForReading(_ name: [UInt8]) throws(SystemError) -> OpenFile {
        let component = try ComponentName(name, for: "openat2")
        let flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC
        var number = unsafe clinux_open_beneath(descriptor.rawValue, component.bytes, UInt64(flags))
        if number < 0, errno == ENOSYS || errno == EPERM {
            number = unsafe openat(descriptor.rawValue, component.bytes, flags)
        }
        guard number >= 0 else { throw .last("openat2", subject(name)) }
        return OpenFile(adopting: number, path: subject(name))
    }

    /// Makes a new empty file for writing, with exactly `mode` whatever the umask.
    ///
    /// - Throws: `SystemError`: EEXIST when the name is taken, by anything.
    package func create(_ name: [UInt8], mode: UInt32) throws(SystemError) -> OpenFile {
        try open(name, flags: O_RDWR | O_CREAT | O_EXCL, mode: mode)
    }

    /// Opens a file of ours for reading and writing, and makes it with `mode` if it is not there.
    ///
    /// - Throws: `SystemError`: ELOOP when it is a symbolic link, EACCES when it is not ours.
    package func openForWriting(_ name: [UInt8], mode: UInt32) throws(SystemError) -> OpenFile {
        do {
            return try create(name, mode: mode)
        } catch {
            guard error.isAlreadyThere else { throw error }
            return try open(name, flags: O_RDWR, mode: nil)
        }
    }

    /// Reads a whole small file.
    ///
    /// - Returns: `nil` when it is longer than `limit`.
    /// - Throws: `SystemError` as `openForReading`, or EIO.
    package func contents(of name: [UInt8], limit: Int) throws(SystemError) -> [UInt8]? {
        try openForReading(name).contents(limit: limit)
    }

    private func open(_ name: [UInt8], flags: Int32, mode: UInt32?) throws(SystemError) -> OpenFile {
        let component = try ComponentName(name, for: "openat")
        let every = flags | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC
        let number = unsafe openat(descriptor.rawValue, component.bytes, every, mode ?? 0)
        guard number >= 0 else { throw .last("openat", subject(name)) }
        let file = OpenFile(adopting: number, path: subject(name))
        if let mode, fchmod(number, mode) != 0 { throw .last("fchmod", subject(name)) }
        return file
    }
}
