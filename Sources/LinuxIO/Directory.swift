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

    private init(_ descriptor: consuming Descriptor, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Opens the directory at `path`, through symbolic links if the operator put some there.
    ///
    /// - Throws: `SystemError`: ENOENT, ENOTDIR, EACCES as open(2) says; the path is the operator's to correct.
    package static func open(path: String) throws(SystemError) -> Directory {
        let number = try FileGate.call(.open, path, { unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        return Directory(try Descriptor(opened: number, "open", path), path: path)
    }

    /// Opens the directory called `name`; never through a symbolic link.
    ///
    /// - Throws: `SystemError`: ENOENT when it is not there, ENOTDIR or ELOOP when it is something else.
    package func openChild(_ name: [UInt8]) throws(SystemError) -> Directory {
        let component = try ComponentName(name, for: "openat")
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let number = try FileGate.call(
            .open, subject(name), { unsafe openat(descriptor.rawValue, component.bytes, flags) })
        return Directory(try Descriptor(opened: number, "openat", subject(name)), path: subject(name))
    }

    /// Opens the directory called `name` and makes it before if it is not there, with exactly `mode` whatever the umask.
    ///
    /// The mode of one that is there already is the operator's and stays. A new one is synced into this directory.
    ///
    /// - Throws: `SystemError`: what mkdirat(2), fchmod(2), fsync(2) or `openChild` say.
    package func makeChild(_ name: [UInt8], mode: UInt32) throws(SystemError) -> Directory {
        let (child, isNew) = try openOrMake(name, mode: mode)
        if isNew { try sync(.newFolder) }
        return child
    }

    /// Does the same for several directories, with one sync for all that are new.
    ///
    /// - Parameter wanted: their names and modes.
    /// - Returns: the directories, in this order.
    /// - Throws: `SystemError`: as `makeChild`; some may have been made.
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
            { unsafe mkdirat(descriptor.rawValue, component.bytes, mode & 0o700) })
        let isNew = status == 0
        guard isNew || errno == EEXIST else { throw .last("mkdirat", subject(name)) }
        let child = try openChild(name)
        if isNew { try child.setMode(mode) }
        return (child, isNew)
    }

    /// Sets its permission bits.
    ///
    /// - Throws: `SystemError`, usually EPERM: it is not ours.
    package func setMode(_ mode: UInt32) throws(SystemError) {
        guard try FileGate.call(.setMode, path, { fchmod(descriptor.rawValue, mode) }) == 0 else {
            throw .last("fchmod", path)
        }
    }

    /// Its own status.
    ///
    /// - Throws: `SystemError`: EIO, ESTALE or ENOTCONN from the filesystem.
    package func status() throws(SystemError) -> FileStatus {
        var raw = stat()
        guard try FileGate.call(.status, path, { unsafe fstat(descriptor.rawValue, &raw) }) == 0 else {
            throw .last("fstat", path)
        }
        return FileStatus(raw)
    }

    /// The status of what is called `name`, a symbolic link's own; `nil` when nothing is.
    ///
    /// - Throws: `SystemError`: anything but ENOENT.
    package func status(of name: [UInt8]) throws(SystemError) -> FileStatus? {
        let component = try ComponentName(name, for: "fstatat")
        var raw = stat()
        let found = try FileGate.call(
            .status, subject(name),
            { unsafe fstatat(descriptor.rawValue, component.bytes, &raw, AT_SYMLINK_NOFOLLOW) })
        if found == 0 { return FileStatus(raw) }
        guard errno == ENOENT else { throw .last("fstatat", subject(name)) }
        return nil
    }

    /// Which file is called `name`, as far as this machine knows; `nil` when nothing is. Asks no server: where a filesystem
    /// hangs, this does not.
    ///
    /// - Throws: `SystemError`: anything but ENOENT.
    package func identityAtHand(of name: [UInt8]) throws(SystemError) -> FileIdentity? {
        let component = try ComponentName(name, for: "statx")
        var (device, inode): (UInt64, UInt64) = (0, 0)
        let found = try FileGate.call(
            .status, subject(name),
            { unsafe clinux_identity(descriptor.rawValue, component.bytes, &device, &inode) })
        if found == 0 { return FileIdentity(device: device, inode: inode) }
        guard errno == ENOENT else { throw .last("statx", subject(name)) }
        return nil
    }

    /// Makes what was renamed, made or removed here survive a power loss (fsync(2)).
    ///
    /// - Parameter site: what the sync is for, by which tests can leave it out.
    /// - Throws: `SystemError`; a failed sync is final and must not be tried again: reopen and read what is there.
    package func sync(_ site: SyncSite = .other) throws(SystemError) {
        if FileGate.isElided(site, path) { return }
        let status = try FileGate.call(
            .sync, path, change: { (_: Int32) in .syncedDirectory(path) },
            { uninterrupted { fsync(descriptor.rawValue) } })
        guard status == 0 else { throw .last("fsync", path) }
    }

    /// Makes everything on its filesystem survive a power loss (syncfs(2)), whoever wrote it: one call for many files
    /// and folders, but it also waits for what others have written.
    ///
    /// - Parameter site: what the sync is for, by which tests can leave it out.
    /// - Throws: `SystemError`; final as for `sync(_:)`.
    package func syncFilesystem(_ site: SyncSite = .other) throws(SystemError) {
        if FileGate.isElided(site, path) { return }
        let status = try FileGate.call(
            .syncFilesystem, path, change: { (_: Int32) in .syncedAll },
            { uninterrupted { clinux_sync_filesystem(descriptor.rawValue) } })
        guard status == 0 else { throw .last("syncfs", path) }
    }

    /// The name with this directory's path before it, for messages.
    func subject(_ name: [UInt8]) -> String {
        path + "/" + printable(name)
    }
}
