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
        let number = try FileGate.call(
            .open, subject(name),
            change: { opened(name, FileGate.inode($0)) },
            {
                let number = unsafe clinux_open_beneath(descriptor.rawValue, component.bytes, UInt64(flags))
                guard number < 0, errno == ENOSYS || errno == EPERM else { return number }
                return unsafe openat(descriptor.rawValue, component.bytes, flags)
            })
        return OpenFile(try Descriptor(opened: number, "openat2", subject(name)), name, in: self)
    }

    /// Opens for reading what somebody else has put here, if it is a regular file.
    ///
    /// - Throws: `SystemError`: as `openForReading`; ELOOP, EISDIR or ENXIO for what is no regular file: pass it over.
    package func openRegular(_ name: [UInt8]) throws(SystemError) -> OpenFile {
        guard let found = try status(of: name) else {
            throw SystemError(code: ENOENT, operation: "open", subject: subject(name))
        }
        guard found.kind == .regular else { throw notRegular(found.kind, name) }
        let file = try openForReading(name)
        // Something else may have come in its place.
        let kind = try file.status().kind
        guard kind == .regular else { throw notRegular(kind, name) }
        return file
    }

    private func notRegular(_ kind: FileStatus.Kind, _ name: [UInt8]) -> SystemError {
        let code =
            switch kind {
            case .symbolicLink: ELOOP
            case .directory: EISDIR
            case .regular, .pipe, .socket, .device, .other: ENXIO
            }
        return SystemError(code: code, operation: "open", subject: "\(subject(name)), a \(kind.rawValue)")
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
        let isNew = mode != nil
        let number = try FileGate.call(
            isNew ? .create : .open, subject(name),
            change: { isNew ? created(name, FileGate.inode($0)) : opened(name, FileGate.inode($0)) },
            { unsafe openat(descriptor.rawValue, component.bytes, every, mode ?? 0) })
        guard number >= 0 else { throw .last("openat", subject(name)) }
        // Let through: nothing was made if there is no descriptor for it, so it must not be refused behind that.
        let file = OpenFile(Descriptor(adopting: number), name, in: self)
        guard let mode else { return file }
        guard try FileGate.call(.setMode, subject(name), { fchmod(number, mode) }) == 0 else {
            throw .last("fchmod", subject(name))
        }
        return file
    }

    private func created(_ name: [UInt8], _ inode: UInt64) -> FileChange {
        .created(directory: path, name: name, file: inode)
    }

    private func opened(_ name: [UInt8], _ inode: UInt64) -> FileChange {
        .opened(directory: path, name: name, file: inode)
    }
}
