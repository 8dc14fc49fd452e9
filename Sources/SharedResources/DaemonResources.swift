package import Configuration
package import Gateways
import JSON
package import LinuxIO
package import Logging
import ServiceProcess
package import SpoolStore

/// The resources that the daemon opens once at its start, and shares with its parts and its apps.
package struct DaemonResources: Sendable {
    /// The daemon's name in the spool.
    package private(set) var node: String
    /// The daemon's logger.
    package private(set) var logger: Logger
    /// The spool, with its journal.
    package private(set) var spool: Spool
    /// The mark of the spool, by which its doors recognize requests of its own daemons.
    package let mark: UInt32
    /// The reactor that serves sockets and timers.
    package let reactor: Reactor
    /// The first thread for files on the spool's own filesystem; the daemon runs there, too.
    package let files: FileThread
    /// Tokens and other data that outlives the daemon.
    package private(set) var state: Directory
    /// Keeps other daemons out of `state`; `nil` in a cluster, where the journal's lock does.
    private let stateLock: StateLock?
    /// The provider tokens and access tokens, shared by all apps with the same key.
    package let tokens: TokenSources
    /// The reserve for a full volume.
    package let ballast: BallastKeeper
    /// Lets the daemon read one file while it reads no other.
    package let reading: ReadingGate
    /// Limits how many hooks start at the same time.
    package let hooks: HookGate
    /// Signalled when the journal fails or needs room.
    package private(set) var journalWakeup: Wakeup
    /// Signalled when the status has changed.
    package let statusWakeup: Wakeup
    /// Signalled when a draining app has become idle.
    package let idleWakeup: Wakeup
    /// Detects steps of the wall clock.
    package let clock: ClockWatch
    /// The nodes that run; `nil` for a daemon that works alone.
    package var cluster: ClusterView? { isClustered ? nodes : nil }
    /// The same for any daemon.
    package let nodes: ClusterView
    private let isClustered: Bool

    /// Opens spool, state folder, reactor and threads. Blocks.
    ///
    /// - Throws: `SpoolFault` or `SystemError`: the daemon cannot start.
    package init(_ configuration: DaemonConfiguration, _ logger: Logger) throws {
        var parser = JSON.Parser()
        self.logger = logger
        node = configuration.node ?? Host.name
        clock = ClockWatch(logger)
        (nodes, isClustered) = (ClusterView(of: node), configuration.cluster != nil)
        spool = try Self.openSpool(configuration, node, logger)
        mark = try spool.mark(&parser)
        let shared = try spool.openState()
        state = try shared ?? Self.openState(configuration.state)
        stateLock = shared == nil ? try Self.lock(state) : nil
        reactor = try Reactor()
        files = try FileThread()
        tokens = TokenSources(
            folder: try Self.openTokens(in: try spool.openCommonState() ?? state),
            worker: try WorkerThread(name: "tokens"), reactor: reactor, logger: logger)
        reading = ReadingGate(on: reactor)
        hooks = HookGate(on: reactor)
        ballast = BallastKeeper(spool, on: files.worker, logger)
        (journalWakeup, statusWakeup, idleWakeup) = (Wakeup(on: reactor), Wakeup(on: reactor), Wakeup(on: reactor))
    }

    /// Opens the spool. In a cluster, waits for the journal: another node may finish this one's jobs, or a file server may
    /// still keep a lock of its earlier life.
    private static func openSpool(
        _ configuration: DaemonConfiguration, _ node: String, _ logger: Logger
    ) throws -> Spool {
        var terms = configuration.cluster
        terms?.patience = .zero
        let (path, byteCount) = (configuration.spool, configuration.journal.byteCount)
        do {
            return try Spool(path: path, node: node, journalByteCount: byteCount, cluster: terms)
        } catch let fault as SpoolFault where fault.cause?.isLocked == true && terms != nil {
            logger.notice("waiting for the journal", metadata: [LogKey.error: "\(fault.message)"])
            return try Spool(path: path, node: node, journalByteCount: byteCount, cluster: configuration.cluster)
        }
    }

    /// Returns the resources for the jobs of a node that has died: its name, its journal and its state.
    ///
    /// - Parameter spool: The spool, opened in place of that node.
    /// - Returns: The resources; all others are this daemon's.
    /// - Throws: `SystemError`: its state cannot be opened.
    package func inPlace(of spool: Spool) throws -> DaemonResources {
        var copy = self
        (copy.node, copy.spool) = (spool.node, spool)
        copy.state = try spool.openState() ?? state
        copy.journalWakeup = Wakeup(on: reactor)
        copy.logger[metadataKey: LogKey.node] = "\(spool.node)"
        return copy
    }

    /// Returns the path of the first of the daemon's folders, or of its journal, if that was moved, replaced or removed; see
    /// `Spool.misplaced`. Blocks.
    ///
    /// - Throws: `SystemError`: it is unknown.
    package func misplaced() throws(SystemError) -> String? {
        if let path = try spool.misplaced() { return path }
        // In a cluster it is in the node's folder.
        guard stateLock != nil, try !FolderPlace.path(state.path).leads(to: state) else { return nil }
        return state.path
    }

    /// Opens the state folder, and creates it if only its last component is missing.
    private static func openState(_ path: String) throws -> Directory {
        let state: Directory
        do throws(SystemError) {
            state = try Directory.open(path: path)
        } catch {
            guard error.isNotFound else { throw error }
            let place = FilePlace(path)
            state = try Directory.open(path: place.directory).makeChild(place.nameBytes, mode: 0o700)
        }
        try state.requirePrivate()
        return state
    }

    private static func lock(_ state: Directory) throws -> StateLock {
        if let lock = try StateLock(on: state) { return lock }
        throw SpoolFault(
            "another daemon uses the state folder \(state.path)",
            hint: "stop that daemon, or set `state` to a different folder for each spool",
            cause: .locked("fcntl F_OFD_SETLK", state.path))
    }

    /// Opens the folder of the tokens, and creates it.
    private static func openTokens(in state: Directory) throws -> Directory {
        do throws(SystemError) {
            return try TokenSources.openFolder(in: state)
        } catch {
            if error.isOutOfSpace || error.isShortage { throw error }
            throw SpoolFault(
                "the folder for tokens cannot be used: \(error)",
                hint: "move \(state.path)/tokens away; the daemon creates that folder itself")
        }
    }
}
