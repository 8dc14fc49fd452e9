package import JournalModel
package import LinuxIO
import SpoolModel

/// The spool's root, held by one daemon under one node name.
///
/// Creating one ensures that no second daemon works on the spool, except the other nodes of a cluster: the journal in
/// `.pushspool/<node>/` stays locked (an open file description lock) while this object lives, and no longer than the
/// process. Calls block.
package final class Spool: Sendable {
    /// The root directory.
    package let root: Directory
    /// The name this daemon claims under.
    package let node: String
    /// `.pushspool/<node>/`, for this daemon only: journal and state.
    package let privateDirectory: Directory
    /// The node's journal, which holds the lock.
    package let journal: Journal
    /// The records that this node's last daemon left in the journal.
    package let replay: JournalReplay
    /// The time until which this node may act on its jobs; `nil` if it works alone.
    package let lease: NodeLease?
    private let heartbeat: Heartbeat?
    /// Requests of other nodes to this one; `nil` if it works alone.
    package let requests: RequestBox?

    /// Opens the spool at `path` as the node called `node`, creates missing folders in `.pushspool/`, takes the lock,
    /// and reads the journal.
    ///
    /// - Parameters:
    ///   - path: the spool's root.
    ///   - node: the name to claim under.
    ///   - journalByteCount: the size of the journal if it has to be created.
    ///   - cluster: The terms of the cluster that the node joins; `nil` if it works alone.
    /// - Throws: `SpoolFault` if another daemon has this name, or works on the spool outside a cluster, the name is invalid,
    ///   or the journal cannot be used; `SystemError` if the path cannot be used. The operator must correct both.
    package convenience init(
        path: String, node: String, journalByteCount: Int = Journal.usualByteCount, cluster: ClusterTerms? = nil
    ) throws {
        guard NodeName.isValid(node) else {
            throw SpoolFault(
                "'\(node)' cannot be a node name", hint: "set `node:` to \(NodeName.rule)")
        }
        let root = try Directory.open(path: path)
        // Without this look, a daemon that is refused would leave a folder.
        if cluster == nil { try Self.requireUnused(root) }
        let directory = try root.makeChild(Self.folderName, mode: 0o755).makeChild(Array(node.utf8), mode: 0o700)
        try directory.requirePrivate()
        if cluster != nil {
            try Self.takeUpWriteErrors(in: directory)
            try Self.requireSharable(directory)
        }
        guard let lock = try JournalLock(of: node, in: directory) ?? cluster?.lock(of: node, in: directory) else {
            throw SpoolFault.isInUse(by: node, root, isClustered: cluster != nil)
        }
        // Of two that start at the same time, each sees the other's lock now.
        if let cluster {
            try cluster.requireClustered(root, besides: node)
        } else {
            try Self.requireUnused(root, besides: [node])
        }
        try self.init(root, lock, journalByteCount, cluster)
        if cluster == nil { try Heartbeat.noteAlone(in: journal) }
    }

    /// Checks that no daemon uses the spool, under any name.
    private static func requireUnused(_ root: Directory, besides known: Set<String> = []) throws {
        guard try root.status(of: folderName) != nil else { return }
        for peer in try PeerFolder.all(inRoot: root, besides: known) where try peer.state() == .locked {
            throw SpoolFault.isInUse(by: peer.node, root, isClustered: false)
        }
    }

    /// Lets the kernel report the errors of writes that a file server refused, because this node had lost its lock. It keeps
    /// them for whoever syncs next, and they say nothing about this daemon: it has read nothing and claimed nothing yet.
    ///
    /// - Throws: `SystemError`: the syncs fail again.
    private static func takeUpWriteErrors(in directory: Directory) throws(SystemError) {
        do throws(SystemError) {
            try directory.syncFilesystem()
        } catch {
            try directory.syncFilesystem()
        }
        guard try directory.status(of: Journal.fileName) != nil else { return }
        let journal = try directory.openForWriting(Journal.fileName, mode: 0o600)
        do throws(SystemError) {
            try journal.syncData()
        } catch {
            try journal.syncData()
        }
    }

    /// Checks that several nodes may share the filesystem.
    private static func requireSharable(_ directory: Directory) throws {
        guard let fault = try ClusterProbe(in: directory).fault else { return }
        throw SpoolFault("several nodes cannot share \(directory.path): \(fault.message)", hint: fault.hint)
    }

    /// Opens the spool in place of a node that has died, with the lock on its journal.
    ///
    /// - Parameters:
    ///   - lock: The lock. The lease that the node may have had must have run out since it was taken.
    ///   - own: The spool as this daemon opened it for itself.
    ///   - terms: The terms of the cluster; `nil` if both nodes work, or worked, alone.
    /// - Throws: As the other initializer.
    package convenience init(inPlaceOf lock: JournalLock, beside own: Spool, _ terms: ClusterTerms?) throws {
        try self.init(own.root, lock, Journal.usualByteCount, terms)
    }

    private init(
        _ root: Directory, _ lock: JournalLock, _ journalByteCount: Int, _ cluster: ClusterTerms?
    ) throws {
        (self.root, node, privateDirectory) = (root, lock.node, lock.directory)
        _ = try Self.makePublicDirectory(of: node, in: root)
        (journal, replay) = try Journal.open(lock, layout: JournalLayout(byteCount: journalByteCount))
        requests = cluster == nil ? nil : try RequestBox(in: privateDirectory)
        try requests?.clear()
        lease = cluster.map { NodeLease(length: $0.leaseLength) }
        heartbeat = try lease.map { [journal] in try Heartbeat(of: journal, $0) }
    }

    deinit {
        heartbeat?.end()
    }

    /// The name of the daemons' own folder in the spool's root.
    static let folderName = Array(".pushspool".utf8)

    /// The mark of the last heartbeat.
    package var beat: JournalBeat? { heartbeat?.mark }

    /// Whether several daemons share the spool, each with its own node name.
    package var isShared: Bool { lease != nil }

    /// Opens the folder for the state of this node that survives restarts, in a cluster: `.pushspool/<node>/state`. Another
    /// node needs it to finish this one's jobs. Blocks.
    ///
    /// - Returns: `nil` if the daemon works alone, and has a folder outside of the spool.
    /// - Throws: `SystemError`: it cannot be created.
    package func openState() throws(SystemError) -> Directory? {
        isShared ? try privateDirectory.makeChild(Array("state".utf8), mode: 0o700) : nil
    }

    /// Opens the folder for the state that all nodes share, in a cluster: `.pushspool/.common`. Blocks.
    ///
    /// - Returns: `nil` if the daemon works alone.
    /// - Throws: `SystemError`: it cannot be created.
    package func openCommonState() throws(SystemError) -> Directory? {
        guard isShared else { return nil }
        return try root.makeChild(Self.folderName, mode: 0o755).makeChild(Array(".common".utf8), mode: 0o700)
    }

    /// Opens `.pushspool/public/<node>/`, readable by all: status and metrics. Creates it, at the start or after it was removed.
    static func makePublicDirectory(of node: String, in root: Directory) throws(SystemError) -> Directory {
        try root.makeChild(folderName, mode: 0o755).makeChild(Array("public".utf8), mode: 0o755)
            .makeChild(Array(node.utf8), mode: 0o755)
    }

    /// Returns the path of the first of these that was moved, replaced, removed or mounted over: the root, this node's folder,
    /// and its journal. Jobs that are dropped there now are not seen, and the next start does not see the jobs or records here.
    /// Blocks.
    ///
    /// - Throws: `SystemError`: it is unknown, for example after EACCES or EIO.
    package func misplaced() throws(SystemError) -> String? {
        guard try FolderPlace.path(root.path).leads(to: root) else { return root.path }
        do throws(SystemError) {
            let place = FolderPlace.entry(Array(node.utf8), of: try root.openChild(Self.folderName))
            guard try place.leads(to: privateDirectory) else { return privateDirectory.path }
            return try journal.isMisplaced() ? "\(privateDirectory.path)/journal" : nil
        } catch {
            guard error.isNotFound || error.isNoDirectory else { throw error }
            return privateDirectory.path
        }
    }

    /// Tells the other nodes that this one has stopped, so that they need not wait for its lease. Blocks.
    ///
    /// - Parameter end: How it has ended.
    /// - Throws: `JournalFault`: the journal is not ours any more, or cannot be written.
    package func leave(_ end: JournalBeat.End) throws(JournalFault) {
        try heartbeat?.part(end)
    }

    /// Whether nothing of this node is left in any app, whether it runs here or not. Blocks.
    ///
    /// - Throws: `SystemError`: a folder cannot be read.
    package func isFinished() throws(SystemError) -> Bool {
        guard journal.liveJobs.isEmpty else { return false }
        for name in try appNames() where try hasWork(in: name, of: node) { return false }
        return true
    }

    /// Returns the names of the directories that can be apps, configured or not, in order.
    ///
    /// - Throws: `SystemError`: the root cannot be read.
    package func appNames() throws(SystemError) -> [String] {
        try root.appNames()
    }

    /// Whether a node has claimed a job of an app, or left any file in its `work/`. Creates nothing.
    ///
    /// - Throws: `SystemError`: the folder cannot be read.
    package func hasWork(in app: String, of node: String) throws(SystemError) -> Bool {
        do throws(SystemError) {
            let work = try root.openChild(Array(app.utf8)).openChild(Array("work".utf8)).openChild(Array(node.utf8))
            var listing = try work.listing()
            return try listing.next() != nil
        } catch {
            guard error.isNotFound else { throw error }
            return false
        }
    }

    /// Opens an app's directories and creates missing ones.
    ///
    /// - Throws: `SpoolFault` if the name is not a valid app name, or the directories are on several filesystems or not
    ///   writable; `SystemError` if one cannot be opened.
    package func app(_ name: String) throws -> AppSpool {
        guard AppName.isValid(name) else {
            throw SpoolFault(
                "'\(name)' cannot be an app's name", hint: "use \(AppName.rule)")
        }
        return try AppSpool(name: name, node: node, root: root, lease: lease)
    }
}

extension Directory {
    /// Checks that only the daemon's user can access the directory.
    ///
    /// - Throws: `SpoolFault`: it belongs to another user, or is open to others; `SystemError` if that cannot be checked.
    package func requirePrivate() throws {
        let status = try status()
        guard status.owner == Host.userID else {
            throw SpoolFault(
                "\(path) belongs to user \(Host.userText(status.owner)), but the daemon runs as user "
                    + Host.userText(Host.userID),
                hint: "run it as that user, or run: chown -R \(Host.userID) \(path)")
        }
        guard status.mode & 0o077 == 0 else {
            throw SpoolFault(
                "\(path) is accessible to other users (mode 0\(String(status.mode, radix: 8)))",
                hint: "chmod 700 \(path)")
        }
    }

    /// Returns the names in a spool's root that are directories and valid app names, in order.
    func appNames() throws(SystemError) -> [String] {
        var names: [String] = []
        var listing = try listing()
        while let entry = try listing.next() {
            guard let name = String(validating: entry.name, as: UTF8.self), AppName.isValid(name) else { continue }
            let kind = if let kind = entry.kind { kind } else { try status(of: entry.name)?.kind }
            if kind == .directory { names.append(name) }
        }
        return names.sorted()
    }
}
