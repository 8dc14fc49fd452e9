import CLinux
import Glibc

/// An open directory. Every operation is relative to it, so renaming or swapping its parents changes nothing.
///
/// Names are bytes, one component each. A name with a slash or NUL, or `.` or `..`, fails with EINVAL. Every call
/// blocks and belongs on a worker thread.
package final class Directory: Sendable {
    let descriptor: Descriptor
    var number: Int32 { descriptor.rawValue }

    /// The path it was opened by, for messages: it may lead to another directory by now.
    package let path: String

    private init(_ descriptor: consuming Descriptor, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Opens the directory at `path`. Follows symbolic links, which the operator may have put there.
    ///
    /// - Throws: `SystemError`: ENOENT, ENOTDIR, EACCES as in open(2). The operator must correct the path.
    package static func open(path: String) throws(SystemError) -> Directory {
        let number = try FileGate.call(.open, path, { unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        return Directory(try Descriptor(opened: number, "open", path), path: path)
    }

    /// Opens the directory called `name`, never through a symbolic link.
    ///
    /// - Throws: `SystemError`: ENOENT if it does not exist, ENOTDIR or ELOOP if it is not a directory.
    package func openChild(_ name: [UInt8]) throws(SystemError) -> Directory {
        let component = try ComponentName(name, for: "openat")
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let number = try FileGate.call(
            .open, subject(name), { unsafe component.withText { unsafe openat(descriptor.rawValue, $0, flags) } })
        return Directory(try Descriptor(opened: number, "openat", subject(name)), path: subject(name))
    }

    /// Opens the directory called `name`. Creates it first if it does not exist, with exactly `mode` regardless of the umask.
    ///
    /// An existing directory keeps its mode, which the operator may have changed. A new one is synced into this directory.
    ///
    /// - Throws: `SystemError`: an error of mkdirat(2), fchmod(2), fsync(2) or `openChild`.
    package func makeChild(_ name: [UInt8], mode: UInt32) throws(SystemError) -> Directory {
        let (child, isNew) = try openOrMake(name, mode: mode)
        if isNew { try sync(.newFolder) }
        return child
    }

    /// Opens or creates several directories, with one sync for all new ones.
    ///
    /// - Parameter wanted: their names and modes.
    /// - Returns: the directories, in this order.
    /// - Throws: `SystemError`: as `makeChild`. Some of them may have been created.
    package func makeChildren(_ wanted: [(name: String, mode: UInt32)]) throws(SystemError) -> [Directory] {
        let children = try wanted.map { (child) throws(SystemError) in
            try openOrMake(Array(child.name.utf8), mode: child.mode)
        }
        if children.contains(where: \.isNew) { try sync(.newFolder) }
        return children.map(\.child)
    }

    private func openOrMake(
        _ name: [UInt8], mode: UInt32
    ) throws(SystemError) -> (child: Directory, isNew: Bool) {
        let component = try ComponentName(name, for: "mkdirat")
        let status = try FileGate.call(
            .makeDirectory, subject(name), change: { (_: Int32) in .madeDirectory(directory: path, name: name) },
            { unsafe component.withText { unsafe mkdirat(descriptor.rawValue, $0, mode & 0o700) } })
        let isNew = status == 0
        guard isNew || errno == EEXIST else { throw .last("mkdirat", subject(name)) }
        let child = try openChild(name)
        if isNew { try child.setMode(mode) }
        return (child, isNew)
    }

    /// Sets its permission bits.
    ///
    /// - Throws: `SystemError`, usually EPERM: it belongs to another user.
    package func setMode(_ mode: UInt32) throws(SystemError) {
        guard try FileGate.call(.setMode, path, { fchmod(descriptor.rawValue, mode) }) == 0 else {
            throw .last("fchmod", path)
        }
    }

    /// Returns the directory's own status.
    ///
    /// - Throws: `SystemError`: EIO, ESTALE or ENOTCONN from the filesystem.
    package func status() throws(SystemError) -> FileStatus {
        var raw = stat()
        guard try FileGate.call(.status, path, { unsafe fstat(descriptor.rawValue, &raw) }) == 0 else {
            throw .last("fstat", path)
        }
        return FileStatus(raw)
    }

    /// Returns the status of the entry `name`, without following a symbolic link; `nil` if it does not exist.
    ///
    /// - Throws: `SystemError`: anything but ENOENT.
    package func status(of name: [UInt8]) throws(SystemError) -> FileStatus? {
        let component = try ComponentName(name, for: "fstatat")
        var raw = stat()
        let found = try FileGate.call(
            .status, subject(name),
            { unsafe component.withText { unsafe fstatat(number, $0, &raw, AT_SYMLINK_NOFOLLOW) } })
        if found == 0 { return FileStatus(raw) }
        guard errno == ENOENT else { throw .last("fstatat", subject(name)) }
        return nil
    }

    /// Returns the identity of the file called `name` from what this host's kernel has cached; `nil` if it does not
    /// exist. Asks no file server, so it does not hang when the filesystem does.
    ///
    /// - Throws: `SystemError`: anything but ENOENT.
    package func identityAtHand(of name: [UInt8]) throws(SystemError) -> FileIdentity? {
        let component = try ComponentName(name, for: "statx")
        var (device, inode): (UInt64, UInt64) = (0, 0)
        let found = try FileGate.call(
            .status, subject(name),
            { unsafe component.withText { unsafe clinux_identity(number, $0, &device, &inode) } })
        if found == 0 { return FileIdentity(device: device, inode: inode) }
        guard errno == ENOENT else { throw .last("statx", subject(name)) }
        return nil
    }

    /// Makes renames, creations and removals in this directory survive a power loss (fsync(2)).
    ///
    /// - Parameter site: the purpose of the sync; tests can leave out single sites.
    /// - Throws: `SystemError`. A failed sync is final. Do not try again: reopen and read the directory.
    package func sync(_ site: SyncSite = .other) throws(SystemError) {
        if FileGate.isElided(site, path) { return }
        let status = try FileGate.call(
            .sync, path, change: { (_: Int32) in .syncedDirectory(path) },
            { uninterrupted { fsync(descriptor.rawValue) } })
        guard status == 0 else { throw .last("fsync", path) }
    }

    /// Makes everything on its filesystem survive a power loss (syncfs(2)). One call covers many files and folders, but
    /// it also waits for data that other programs wrote.
    ///
    /// - Parameter site: the purpose of the sync; tests can leave out single sites.
    /// - Throws: `SystemError`; final as for `sync(_:)`.
    package func syncFilesystem(_ site: SyncSite = .other) throws(SystemError) {
        if FileGate.isElided(site, path) { return }
        let status = try FileGate.call(
            .syncFilesystem, path, change: { (_: Int32) in .syncedAll },
            { uninterrupted { clinux_sync_filesystem(descriptor.rawValue) } })
        guard status == 0 else { throw .last("syncfs", path) }
    }

    /// Joins this directory's path and the name, for messages.
    func subject(_ name: [UInt8]) -> String {
        path + "/" + printable(name)
    }
}
