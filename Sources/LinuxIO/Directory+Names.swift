import CLinux
import Glibc

extension Directory {
    /// Renames within one filesystem; whatever has the new name is replaced.
    ///
    /// - Throws: `SystemError`: ENOENT when somebody else was faster, EXDEV between filesystems. After any other error
    ///   the rename may have happened on a network filesystem: look.
    package func rename(_ name: [UInt8], to target: Directory, replacing newName: [UInt8]) throws(SystemError) {
        let (old, new) = (try ComponentName(name, for: "renameat"), try ComponentName(newName, for: "renameat"))
        let status = try FileGate.call(
            .rename, move(name, target, newName), change: { (_: Int32) in renamed(name, target, newName) },
            { unsafe renameat(descriptor.rawValue, old.bytes, target.descriptor.rawValue, new.bytes) })
        guard status == 0 else { throw .last("renameat", move(name, target, newName)) }
    }

    /// Renames within one filesystem unless the new name is taken (RENAME_NOREPLACE).
    ///
    /// Where the filesystem cannot (EINVAL on FUSE): link(2) and unlink(2), between which a crash leaves both names;
    /// what cannot be linked, a directory, is renamed after a look, which is not proof against somebody as fast.
    ///
    /// - Throws: `SystemError`: EEXIST when the name is taken; otherwise as `rename(_:to:replacing:)`.
    package func rename(_ name: [UInt8], to target: Directory, as newName: [UInt8]) throws(SystemError) {
        do {
            try renameNatively(name, to: target, as: newName)
        } catch {
            guard error.code == EINVAL || error.code == ENOSYS else { throw error }
            try renameByLink(name, to: target, as: newName)
        }
    }

    /// Renames by RENAME_NOREPLACE alone, to find out whether the filesystem can. The new name must be free for that.
    ///
    /// - Throws: `SystemError`: EINVAL or ENOSYS when it cannot; otherwise as `rename(_:to:as:)`.
    package func renameNatively(_ name: [UInt8], to target: Directory, as newName: [UInt8]) throws(SystemError) {
        let (old, new) = (try ComponentName(name, for: "renameat2"), try ComponentName(newName, for: "renameat2"))
        let status = try FileGate.call(
            .rename, move(name, target, newName), change: { (_: Int32) in renamed(name, target, newName) },
            { unsafe clinux_rename_noreplace(descriptor.rawValue, old.bytes, target.descriptor.rawValue, new.bytes) })
        guard status == 0 else { throw .last("renameat2", move(name, target, newName)) }
    }

    /// Gives a file a second name, unless that is taken.
    ///
    /// - Throws: `SystemError`: EEXIST when the name is taken, EPERM where files cannot be linked.
    package func link(_ name: [UInt8], to target: Directory, as newName: [UInt8]) throws(SystemError) {
        let (old, new) = (try ComponentName(name, for: "linkat"), try ComponentName(newName, for: "linkat"))
        let change = FileChange.linked(directory: path, name: name, toDirectory: target.path, newName: newName)
        let status = try FileGate.call(
            .link, move(name, target, newName), change: { (_: Int32) in change },
            { unsafe linkat(descriptor.rawValue, old.bytes, target.descriptor.rawValue, new.bytes, 0) })
        guard status == 0 else { throw .last("linkat", move(name, target, newName)) }
    }

    /// Removes a name; the file goes with its last one.
    ///
    /// - Returns: `false` when there was no such name.
    /// - Throws: `SystemError`: EISDIR for a directory, EACCES or EPERM when we may not.
    @discardableResult
    package func unlink(_ name: [UInt8]) throws(SystemError) -> Bool {
        try remove(name, flags: 0)
    }

    /// Removes an empty directory.
    ///
    /// - Returns: `false` when there was no such name.
    /// - Throws: `SystemError`: ENOTEMPTY when something is in it.
    @discardableResult
    package func removeChild(_ name: [UInt8]) throws(SystemError) -> Bool {
        try remove(name, flags: AT_REMOVEDIR)
    }

    private func remove(_ name: [UInt8], flags: Int32) throws(SystemError) -> Bool {
        let component = try ComponentName(name, for: "unlinkat")
        let status = try FileGate.call(
            .unlink, subject(name), change: { (_: Int32) in .removed(directory: path, name: name) },
            { unsafe unlinkat(descriptor.rawValue, component.bytes, flags) })
        if status == 0 { return true }
        guard errno == ENOENT else { throw .last("unlinkat", subject(name)) }
        return false
    }

    private func renameByLink(_ name: [UInt8], to target: Directory, as newName: [UInt8]) throws(SystemError) {
        do {
            try link(name, to: target, as: newName)
        } catch {
            guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(error.code) else { throw error }
            guard try target.status(of: newName) == nil else {
                throw SystemError(code: EEXIST, operation: "renameat", subject: move(name, target, newName))
            }
            return try rename(name, to: target, replacing: newName)
        }
        try unlink(name)
    }

    private func renamed(_ name: [UInt8], _ target: Directory, _ newName: [UInt8]) -> FileChange {
        .renamed(directory: path, name: name, toDirectory: target.path, newName: newName)
    }

    private func move(_ name: [UInt8], _ target: Directory, _ newName: [UInt8]) -> String {
        subject(name) + " to " + target.subject(newName)
    }
}

extension SystemError {
    /// Whether a rename or link went beyond one filesystem (EXDEV).
    package var isOtherFilesystem: Bool { code == EXDEV }

    /// Whether we may not, by rights or because the filesystem is read-only (EACCES, EPERM, EROFS).
    package var isRefusal: Bool { isPermission || code == EROFS }

    /// Whether one file cannot be opened for reading, which says nothing of others: rights are missing, it is no
    /// regular file, or lies on another filesystem (EACCES, EPERM, ELOOP, EISDIR, ENXIO, ENODEV, EXDEV).
    package var isOfOneFile: Bool {
        isPermission || [ELOOP, EISDIR, ENXIO, ENODEV, EXDEV].contains(code)
    }

    /// Whether the kernel or the filesystem has no such operation (EINVAL, ENOSYS, EOPNOTSUPP).
    package var isUnsupported: Bool { [EINVAL, ENOSYS, EOPNOTSUPP].contains(code) }

    /// Whether it is a symbolic link that was met where none may be (ELOOP).
    package var isSymbolicLink: Bool { code == ELOOP }

    /// Whether it is a directory that was met where a file should be (EISDIR).
    package var isDirectory: Bool { code == EISDIR }

    /// Whether a directory was to be removed that has something in it (ENOTEMPTY, EEXIST).
    package var isNotEmpty: Bool { code == ENOTEMPTY || code == EEXIST }

    /// Whether somebody holds it in a way that passes (EAGAIN, a write lease).
    package var isBusy: Bool { code == EAGAIN }
}
