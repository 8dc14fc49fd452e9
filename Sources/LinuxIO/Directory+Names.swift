import CLinux
import Glibc

extension Directory {
    /// Renames within one filesystem. Replaces an existing file of the new name.
    ///
    /// - Throws: `SystemError`: ENOENT if another process was faster, EXDEV between filesystems. After any other error
    ///   on a network filesystem the rename may have happened: check.
    package func rename(_ name: [UInt8], to target: Directory, replacing newName: [UInt8]) throws(SystemError) {
        let (old, new) = (try ComponentName(name, for: "renameat"), try ComponentName(newName, for: "renameat"))
        let status = try FileGate.call(
            .rename, move(name, target, newName), change: { (_: Int32) in renamed(name, target, newName) },
            { unsafe old.withText(and: new) { unsafe renameat(number, $0, target.number, $1) } })
        guard status == 0 else { throw .last("renameat", move(name, target, newName)) }
    }

    /// Renames within one filesystem unless the new name is taken (RENAME_NOREPLACE).
    ///
    /// If the filesystem does not support the flag (EINVAL on FUSE), it uses link(2) and unlink(2); a crash between the
    /// two leaves both names. An entry that cannot be linked, such as a directory, is renamed after a check for the new
    /// name, which leaves a race with other processes.
    ///
    /// - Throws: `SystemError`: EEXIST if the name is taken; otherwise as `rename(_:to:replacing:)`.
    package func rename(_ name: [UInt8], to target: Directory, as newName: [UInt8]) throws(SystemError) {
        do {
            try renameNatively(name, to: target, as: newName)
        } catch {
            guard error.code == EINVAL || error.code == ENOSYS else { throw error }
            try renameByLink(name, to: target, as: newName)
        }
    }

    /// Renames with RENAME_NOREPLACE only, to find out whether the filesystem supports it. The new name must be free for that.
    ///
    /// - Throws: `SystemError`: EINVAL or ENOSYS if it does not; otherwise as `rename(_:to:as:)`.
    package func renameNatively(_ name: [UInt8], to target: Directory, as newName: [UInt8]) throws(SystemError) {
        let (old, new) = (try ComponentName(name, for: "renameat2"), try ComponentName(newName, for: "renameat2"))
        let status = try FileGate.call(
            .rename, move(name, target, newName), change: { (_: Int32) in renamed(name, target, newName) },
            { unsafe old.withText(and: new) { unsafe clinux_rename_noreplace(number, $0, target.number, $1) } })
        guard status == 0 else { throw .last("renameat2", move(name, target, newName)) }
    }

    /// Replaces a file in one step: readers, also after a crash, find the complete old file or the complete new one.
    ///
    /// - Parameters:
    ///   - name: The file to replace; it need not exist.
    ///   - temporary: The name of the new file until it is complete. No other process may write a file of this name; one
    ///     that a crash has left is removed first.
    ///   - mode: The mode of the new file.
    ///   - write: Writes the content. It must sync it, too, if a power loss must not leave an empty file.
    /// - Throws: `SystemError`: the volume is full or not writable. The old file is unchanged, and no new one is left.
    package func replace(
        _ name: [UInt8], by temporary: [UInt8], mode: UInt32, _ write: (borrowing OpenFile) throws(SystemError) -> Void
    ) throws(SystemError) {
        try unlink(temporary)
        let file = try create(temporary, mode: mode)
        do throws(SystemError) {
            try write(file)
            // A network filesystem may report only now that the volume is full.
            try file.closeNow()
            try rename(temporary, to: self, replacing: name)
        } catch {
            // The first error tells more than one of the removal.
            _ = try? unlink(temporary)
            throw error
        }
    }

    /// Gives a file a second name, unless that name is taken.
    ///
    /// - Throws: `SystemError`: EEXIST if the name is taken, EPERM if the filesystem has no hard links.
    package func link(_ name: [UInt8], to target: Directory, as newName: [UInt8]) throws(SystemError) {
        let (old, new) = (try ComponentName(name, for: "linkat"), try ComponentName(newName, for: "linkat"))
        let change = FileChange.linked(directory: path, name: name, toDirectory: target.path, newName: newName)
        let status = try FileGate.call(
            .link, move(name, target, newName), change: { (_: Int32) in change },
            { unsafe old.withText(and: new) { unsafe linkat(number, $0, target.number, $1, 0) } })
        guard status == 0 else { throw .last("linkat", move(name, target, newName)) }
    }

    /// Removes a name. The kernel deletes the file with its last name.
    ///
    /// - Returns: `false` if the name did not exist.
    /// - Throws: `SystemError`: EISDIR for a directory, EACCES or EPERM without permission.
    @discardableResult
    package func unlink(_ name: [UInt8]) throws(SystemError) -> Bool {
        try remove(name, flags: 0)
    }

    /// Removes an empty directory.
    ///
    /// - Returns: `false` if the name did not exist.
    /// - Throws: `SystemError`: ENOTEMPTY if it has entries.
    @discardableResult
    package func removeChild(_ name: [UInt8]) throws(SystemError) -> Bool {
        try remove(name, flags: AT_REMOVEDIR)
    }

    private func remove(_ name: [UInt8], flags: Int32) throws(SystemError) -> Bool {
        let component = try ComponentName(name, for: "unlinkat")
        let status = try FileGate.call(
            .unlink, subject(name), change: { (_: Int32) in .removed(directory: path, name: name) },
            { unsafe component.withText { unsafe unlinkat(descriptor.rawValue, $0, flags) } })
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
    /// Whether a rename or link crossed a filesystem boundary (EXDEV).
    package var isOtherFilesystem: Bool { code == EXDEV }

    /// Whether permission was denied, by access rights or because the filesystem is read-only (EACCES, EPERM, EROFS).
    package var isRefusal: Bool { isPermission || code == EROFS }

    /// What to do about a filesystem that is read-only for this process (EROFS); `nil` for other errors. A sandbox makes
    /// folders read-only without a fault of the disk.
    package var readOnlyRemedy: String? {
        guard code == EROFS else { return nil }
        return "under systemd add the folder to ReadWritePaths= of the unit, and restart it; otherwise mount its "
            + "filesystem read-write"
    }

    /// Whether the failure concerns only this one file: permission denied, not a regular file, or on another filesystem
    /// (EACCES, EPERM, ELOOP, EISDIR, ENXIO, ENODEV, EXDEV). Other files may still be readable.
    package var isOfOneFile: Bool {
        isPermission || [ELOOP, EISDIR, ENXIO, ENODEV, EXDEV].contains(code)
    }

    /// Whether the kernel or the filesystem does not support the operation (EINVAL, ENOSYS, EOPNOTSUPP).
    package var isUnsupported: Bool { [EINVAL, ENOSYS, EOPNOTSUPP].contains(code) }

    /// Whether the call met a symbolic link where none is allowed (ELOOP).
    package var isSymbolicLink: Bool { code == ELOOP }

    /// Whether the call met a directory where a file should be (EISDIR).
    package var isDirectory: Bool { code == EISDIR }

    /// Whether a directory could not be removed because it has entries (ENOTEMPTY, EEXIST).
    package var isNotEmpty: Bool { code == ENOTEMPTY || code == EEXIST }

    /// Whether a write lease blocks the file for now (EAGAIN).
    package var isBusy: Bool { code == EAGAIN }
}
