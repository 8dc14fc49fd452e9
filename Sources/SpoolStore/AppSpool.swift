package import APNSModel
package import LinuxIO
import SpoolModel

/// One app's directories, opened once; the moves of its jobs between them.
///
/// Every job is in exactly one of `new`, `work`, `hold`, `done` and `failed`; every move is one rename. Calls block: an
/// actor on a worker thread owns the value. Nothing here reads a clock or decides what becomes of a job.
package final class AppSpool {
    /// The app's name, which is its directory's.
    package let name: String
    /// The node that claims here.
    package let node: String
    /// `<app>/` itself.
    package let home: Directory
    /// `<app>/new/`, where producers publish.
    package let new: Directory
    /// `<app>/tmp/`, where producers may stage.
    package let staging: Directory
    /// `<app>/work/<node>/`, what this node has claimed.
    package let work: Directory
    /// `<app>/hold/`, what is parked.
    package let held: Directory
    /// `<app>/feedback/`.
    package let feedbackDirectory: Directory
    /// What the app is stored on.
    package let filesystem: FilesystemType
    /// Whether a rename can refuse a taken name in one step here; else it is done by link and unlink.
    package let hasNoReplace: Bool

    private(set) var done: Directory
    private(set) var failed: Directory
    /// Names given to jobs that are not moved yet.
    var reserved: Set<ArchivePlace> = []
    /// Folders of days that are kept open at present; `nil`: none is.
    var openDays: [ArchiveDay: Directory]?
    /// What counts the job files that are open; `nil`: any number may be. Set before the first is opened.
    package var jobFiles: DescriptorShare?
    /// Day folders to sync before the directory that their jobs came from.
    var unsynced: Set<ArchiveDay> = []

    /// Whether the watch tells what happens here; if not, poll.
    package var isNotifying: Bool { !filesystem.isShared }

    init(name: String, node: String, root: Directory) throws {
        self.name = name
        self.node = node
        let app = try root.makeChild(Array(name.utf8), mode: 0o755)
        home = app
        let folders = try app.makeChildren([
            ("new", 0o3770), ("tmp", 0o3770), ("hold", 0o750), ("done", 0o750), ("failed", 0o750), ("feedback", 0o2750),
            ("work", 0o700),
        ])
        (new, staging, held) = (folders[0], folders[1], folders[2])
        (done, failed, feedbackDirectory) = (folders[3], folders[4], folders[5])
        work = try folders[6].makeChild(Array(node.utf8), mode: 0o700)
        filesystem = try new.filesystemType()
        hasNoReplace = try probe([new, work, held, done, failed], PassingNames(".probe-" + node))
    }

    /// Makes an archive again that somebody removed, with all that was in it.
    ///
    /// - Throws: `SystemError`: ENOSPC, EIO and the like; ENOENT when the app's folder has gone too.
    func makeAgain(_ folder: ArchiveFolder) throws(SystemError) -> Directory {
        switch folder {
        case .done:
            done = try home.makeChild(Array("done".utf8), mode: 0o750)
            return done
        case .failed:
            failed = try home.makeChild(Array("failed".utf8), mode: 0o750)
            return failed
        }
    }

    /// Counts a job file that is about to be opened.
    ///
    /// - Returns: what to keep beside it; `nil` where nobody counts.
    /// - Throws: `SystemError`, EMFILE: other jobs have all the descriptors that there are for this app now.
    func leaseJobFile(_ path: @autoclosure () -> String) throws(SystemError) -> DescriptorLease? {
        guard let jobFiles else { return nil }
        guard let lease = jobFiles.lease() else { throw .noDescriptor("open", path()) }
        return lease
    }

    /// A name in the app's folder that has the app paused for as long as it is there, on every node.
    private static let pauseName = Array("paused".utf8)

    /// Since when the app is paused; `nil` if it is not.
    ///
    /// - Throws: `SystemError`: EIO, ESTALE and the like: that cannot be told.
    package func pausedAt() throws(SystemError) -> WallTime? {
        try home.status(of: Self.pauseName).map { WallTime(nanoseconds: $0.modifiedAt) }
    }

    /// Has the app paused until `endPause`, also after a restart; synced. One that is paused stays so.
    ///
    /// - Throws: `SystemError`: EIO, ENOSPC and the like.
    package func beginPause() throws(SystemError) {
        do {
            try home.create(Self.pauseName, mode: 0o644).closeNow()
        } catch {
            guard error.isAlreadyThere else { throw error }
        }
        try home.sync()
    }

    /// Ends the pause; synced.
    ///
    /// - Throws: `SystemError`: EISDIR when somebody has put a folder there; EIO and the like.
    package func endPause() throws(SystemError) {
        try home.unlink(Self.pauseName)
        try home.sync()
    }

    /// Room left where the app is stored.
    ///
    /// - Throws: `SystemError`: EIO, ESTALE or ENOTCONN from the filesystem.
    package func space() throws(SystemError) -> FilesystemSpace {
        try new.filesystemSpace()
    }
}

/// Moves a file all the way that a job can go, because only that shows what a rename can do: bind mounts and btrfs
/// subvolumes are other filesystems to rename(2) although they look like one.
///
/// Returns whether RENAME_NOREPLACE works. A full disk is no fault: the jobs that are here can still be finished.
/// Producers may make names in the first folder: none of them keeps the app from starting.
private func probe(_ way: [Directory], _ names: PassingNames) throws -> Bool {
    for directory in way { names.removeAll(in: directory) }
    let name = names.next()
    do {
        try way[0].create(name, mode: 0o600).closeNow()
        let hasNoReplace = try canRefuseTakenName(from: way[0], to: way[1], name)
        for (from, to) in zip(way.dropFirst(), way.dropFirst(2)) { try from.rename(name, to: to, replacing: name) }
        try way[way.count - 1].unlink(name)
        return hasNoReplace
    } catch {
        for directory in way { _ = try? directory.unlink(name) }
        if error.isOutOfSpace { return true }
        throw fault(error)
    }
}

private func fault(_ error: SystemError) -> any Error {
    if error.isOtherFilesystem {
        return SpoolFault(
            "the app's folders are on several filesystems",
            hint: "keep new, work, hold, done and failed on one, without mounts or subvolumes below the app's folder",
            cause: error)
    }
    guard error.isRefusal else { return error }
    return SpoolFault(
        "the app's folders cannot be written to", hint: "make them writable for the daemon's user", cause: error)
}

private func canRefuseTakenName(from: Directory, to: Directory, _ name: [UInt8]) throws(SystemError) -> Bool {
    do {
        try from.renameNatively(name, to: to, as: name)
        return true
    } catch {
        guard error.isUnsupported else { throw error }
        try from.rename(name, to: to, replacing: name)
        return false
    }
}
