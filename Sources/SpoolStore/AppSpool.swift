package import LinuxIO
package import PushModel

/// One app's directories, opened once, and the moves of its jobs between them.
///
/// Every job is in exactly one of `new`, `work`, `hold`, `done` and `failed`; every move is one rename. Calls block, so
/// an actor on a worker thread owns the object. This type reads no clock and makes no decisions about jobs.
package final class AppSpool {
    /// The app's name, which is also the name of its directory.
    package let name: String
    /// The node that claims here.
    package let node: String
    /// `<app>/` itself.
    package let home: Directory
    /// `<app>/new/`, where producers publish.
    package let new: Directory
    /// `<app>/tmp/`, where producers may stage.
    package let staging: Directory
    /// `<app>/work/<node>/`, for jobs that this node has claimed.
    package let work: Directory
    /// `<app>/hold/`, for held jobs.
    package let holdDirectory: Directory
    /// `<app>/feedback/`.
    package let feedbackDirectory: Directory
    /// The folders that must stay where they are while the app runs.
    package let places: AppPlaces
    /// The type of the app's filesystem.
    package let filesystem: FilesystemType
    /// Whether a rename can refuse a taken name in one step here; else the move is a link and an unlink.
    package let hasNoReplace: Bool

    /// `<app>/done/` and `<app>/failed/`.
    package let archives: Archives
    /// Moves files to `hold/` and back.
    package let hold: HoldFolder
    /// What producers may know of the node's jobs.
    package let notices: JobNotices
    /// The node's lease in a cluster, where other nodes move jobs here, too.
    let lease: NodeLease?
    /// Whether other nodes move jobs here, too.
    package var isClustered: Bool { lease != nil }
    /// Counts the open job files; `nil` means no limit. Set before the first file is opened.
    package var jobFiles: DescriptorShare?

    /// Whether calls may wait for a file server, so that many are made side by side.
    package let waitsForServer: Bool

    /// Whether inotify reports all changes here; if not, poll.
    package var isNotifying: Bool { !filesystem.isShared }

    init(name: String, node: String, root: Directory, lease: NodeLease? = nil) throws {
        self.name = name
        self.lease = lease
        self.node = node
        let app = try root.makeChild(Array(name.utf8), mode: 0o755)
        home = app
        let folders = try app.makeChildren([
            ("new", 0o3770), ("tmp", 0o3770), ("hold", 0o750), ("done", 0o750), ("failed", 0o750), ("feedback", 0o2750),
            ("work", 0o700),
        ])
        (new, staging, holdDirectory) = (folders[0], folders[1], folders[2])
        feedbackDirectory = folders[5]
        work = try folders[6].makeChild(Array(node.utf8), mode: 0o700)
        places = AppPlaces(
            home: app,
            [("new", app, new), ("tmp", app, staging), ("hold", app, holdDirectory), ("work", app, folders[6])]
                + [(node, folders[6], work)])
        filesystem = try new.filesystemType()
        waitsForServer = lease != nil || filesystem.isShared
        archives = Archives(folders[3], folders[4], in: home, from: work)
        archives.waitsForServer = waitsForServer
        var hold = HoldFolder(holdDirectory, new: new, work: work, archives)
        hold.lease = lease
        self.hold = hold
        notices = try JobNotices(in: staging, of: node, holdingIn: holdDirectory, writingIn: work)
        hasNoReplace = try probe([new, work, holdDirectory, folders[3], folders[4]], PassingNames(".probe-" + node))
    }

    /// The device of a file for records that outlive the process; 0 on a shared filesystem, where each mount has another.
    package func recordedDevice(of status: FileStatus) -> UInt64 { filesystem.isShared ? 0 : status.device }

    /// The name of the file in the app's folder that pauses the app on every node while it exists.
    private static let pauseName = Array("paused".utf8)

    /// Returns when the app was paused; `nil` if it is not paused.
    ///
    /// - Throws: `SystemError`: for example EIO or ESTALE. The state is unknown then.
    package func pausedAt() throws(SystemError) -> WallTime? {
        try home.status(of: Self.pauseName).map { WallTime(nanoseconds: $0.modifiedAt) }
    }

    /// Pauses the app until `endPause`, also across restarts; synced. Does nothing to a paused app.
    ///
    /// - Throws: `SystemError`: for example EIO or ENOSPC.
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
    /// - Throws: `SystemError`: EISDIR if a folder has that name, EIO and others.
    package func endPause() throws(SystemError) {
        try home.unlink(Self.pauseName)
        try home.sync()
    }

    /// Returns the free space where the app is stored.
    ///
    /// - Throws: `SystemError`: EIO, ESTALE or ENOTCONN from the filesystem.
    package func space() throws(SystemError) -> FilesystemSpace {
        try new.filesystemSpace()
    }
}

extension DescriptorShare {
    /// Counts a job file that is about to be opened.
    ///
    /// - Returns: the lease to keep with the file.
    /// - Throws: `SystemError`, EMFILE: other jobs use all the descriptors available to this app now.
    func leaseFile(_ path: @autoclosure () -> String) throws(SystemError) -> DescriptorLease {
        guard let lease = lease() else { throw .noDescriptor("open", path()) }
        return lease
    }
}

/// The folders of an app that it opens once, and whether they still have their paths. If one has not, jobs that arrive under
/// the path are not seen, and the app must be opened again. Any thread may ask.
///
/// The archives and `feedback/` are not among them: those are followed to the folder that has the path.
package struct AppPlaces: Sendable {
    private let home: Directory
    private let folders: [(name: String, parent: Directory, folder: Directory)]

    init(home: Directory, _ folders: [(name: String, parent: Directory, folder: Directory)]) {
        (self.home, self.folders) = (home, folders)
    }

    /// Returns the path of the first folder that was moved, replaced, removed or mounted over; `nil` if all are in place.
    ///
    /// - Parameter identity: The identity of what has the app's name in the spool; `nil` if nothing has.
    /// - Returns: The path.
    /// - Throws: `SystemError`: it is unknown, for example after EACCES or EIO.
    package func misplaced(_ identity: FileIdentity?) throws(SystemError) -> String? {
        guard try home.status().identity == identity else { return home.path }
        for (name, parent, folder) in folders {
            if try !FolderPlace.entry(Array(name.utf8), of: parent).leads(to: folder) { return folder.path }
        }
        return nil
    }
}

/// Moves a file along the whole path that a job can take, because only that shows whether the renames work: for
/// rename(2), bind mounts and btrfs subvolumes are separate filesystems although they look like one.
///
/// Returns whether RENAME_NOREPLACE works. A full disk is not an error, because existing jobs can still be finished.
/// Producers can create files in the first folder, so the probe uses names that they cannot block.
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
            "the app's folders are on different filesystems",
            hint: "keep new, work, hold, done and failed on one filesystem, without mounts or subvolumes between them",
            cause: error)
    }
    guard error.isRefusal else { return error }
    return SpoolFault(
        "the app's folders are not writable", hint: error.readOnlyRemedy ?? "make them writable for the daemon's user",
        cause: error)
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
