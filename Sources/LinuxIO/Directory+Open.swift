import CLinux
import Glibc

extension Directory {
    /// Opens a file for reading. Never follows a link, never leaves this directory or mount, and never waits.
    ///
    /// Uses openat2(2), or openat(2) with O_NOFOLLOW where a kernel or sandbox lacks it. Do not open what a
    /// status call has shown to be a device: that can have side effects.
    ///
    /// - Throws: `SystemError`: ENOENT, ELOOP (a symbolic link), EXDEV (another mount), EACCES, EAGAIN (another process
    ///   holds a write lease: try again later).
    package func openForReading(_ name: [UInt8]) throws(SystemError) -> OpenFile {
        let component = try ComponentName(name, for: "openat2")
        let flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC
        let number = try FileGate.call(
            .open, subject(name),
            change: { opened(name, FileGate.inode($0)) },
            {
                let number = unsafe component.withText {
                    unsafe clinux_open_beneath(descriptor.rawValue, $0, UInt64(flags))
                }
                guard number < 0, errno == ENOSYS || errno == EPERM else { return number }
                return unsafe component.withText { unsafe openat(descriptor.rawValue, $0, flags) }
            })
        return OpenFile(try Descriptor(opened: number, "openat2", subject(name)), name, in: self)
    }

    /// Opens a file that another program put here, if it is a regular file.
    ///
    /// - Throws: `SystemError`: as `openForReading`; ELOOP, EISDIR or ENXIO if it is not a regular file: skip it.
    package func openRegular(_ name: [UInt8]) throws(SystemError) -> OpenFile {
        guard let found = try status(of: name) else {
            throw SystemError(code: ENOENT, operation: "open", subject: subject(name))
        }
        guard found.kind == .regular else { throw notRegular(found.kind, name) }
        let file = try openForReading(name)
        // The name may have been given to another file since the check.
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

    /// Creates an empty file for writing, with exactly `mode` regardless of the umask.
    ///
    /// - Throws: `SystemError`: EEXIST if the name is taken, by any kind of file.
    package func create(_ name: [UInt8], mode: UInt32) throws(SystemError) -> OpenFile {
        try open(name, flags: O_RDWR | O_CREAT | O_EXCL, mode: mode)
    }

    /// Opens one of our files for reading and writing. Creates it with `mode` if it does not exist.
    ///
    /// - Throws: `SystemError`: ELOOP if it is a symbolic link, EACCES if it belongs to another user.
    package func openForWriting(_ name: [UInt8], mode: UInt32) throws(SystemError) -> OpenFile {
        do { return try create(name, mode: mode) } catch { guard error.isAlreadyThere else { throw error } }
        return try open(name, flags: O_RDWR, mode: nil)
    }

    /// Reads a whole small file.
    ///
    /// - Returns: `nil` if it is longer than `limit`.
    /// - Throws: `SystemError` as `openForReading`, or EIO.
    package func contents(of name: [UInt8], limit: Int) throws(SystemError) -> [UInt8]? {
        try openForReading(name).contents(limit: limit)
    }

    /// Reads a whole small file; `nil` also if there is none of that name.
    ///
    /// - Throws: `SystemError` for another reason.
    package func contentsIfThere(of name: [UInt8], limit: Int) throws(SystemError) -> [UInt8]? {
        do { return try contents(of: name, limit: limit) } catch { guard error.isNotFound else { throw error } }
        return nil
    }

    private func open(_ name: [UInt8], flags: Int32, mode: UInt32?) throws(SystemError) -> OpenFile {
        let component = try ComponentName(name, for: "openat")
        let every = flags | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC
        let isNew = mode != nil
        let number = try FileGate.call(
            isNew ? .create : .open, subject(name),
            change: { isNew ? created(name, FileGate.inode($0)) : opened(name, FileGate.inode($0)) },
            { unsafe component.withText { unsafe openat(descriptor.rawValue, $0, every, mode ?? 0) } })
        guard number >= 0 else { throw .last("openat", subject(name)) }
        // Exempt from the descriptor reserve: callers rely on EMFILE meaning that no file was created.
        let file = OpenFile(Descriptor(adopting: number), name, in: self)
        guard let mode else { return file }
        guard try FileGate.call(.setMode, subject(name), { fchmod(number, mode) }) == 0 else {
            throw .last("fchmod", subject(name))
        }
        return file
    }

    /// Replaces a file's content, by another file, so that it has either the old or the new content after a power loss.
    ///
    /// - Parameters:
    ///   - name: the file, which need not exist. Another with `.new.` before the name is removed.
    ///   - bytes: the content. Only the owner may read it.
    /// - Throws: `SystemError`: the old content may still be there.
    package func replace(_ name: [UInt8], with bytes: [UInt8]) throws(SystemError) {
        let draft = Array(".new.".utf8) + name
        _ = try unlink(draft)
        try write(bytes, toNew: draft, mode: 0o600, for: .other)
        try rename(draft, to: self, replacing: name)
        try sync()
    }

    /// Writes a new file so that its content survives a power loss. Nothing relies on it before the caller has given it its
    /// name, so a failure is not final.
    ///
    /// - Parameters:
    ///   - bytes: The content.
    ///   - name: A name that no file has.
    ///   - mode: The mode of the file.
    ///   - site: The purpose of the sync.
    /// - Throws: `SystemError`: for example ENOSPC, EDQUOT or EIO, which a file server may report as late as at the sync. No
    ///   file is left, unless it cannot be removed either.
    package func write(
        _ bytes: [UInt8], toNew name: [UInt8], mode: UInt32, for site: SyncSite
    ) throws(SystemError) {
        let file = try create(name, mode: mode)
        do throws(SystemError) {
            try file.write(bytes)
            try file.syncDraft(site)
            try file.closeNow()
        } catch {
            // The first error tells more than one of the removal.
            _ = try? unlink(name)
            throw error
        }
    }

    private func created(_ name: [UInt8], _ inode: UInt64) -> FileChange {
        .created(directory: path, name: name, file: inode)
    }

    private func opened(_ name: [UInt8], _ inode: UInt64) -> FileChange {
        .opened(directory: path, name: name, file: inode)
    }
}
