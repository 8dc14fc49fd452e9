import APNSGateway
package import Configuration
package import LinuxIO
package import Logging
package import SharedResources
package import SpoolStore

/// The resources that the daemon opens once at its start, and shares with its parts and its apps.
package struct DaemonResources: Sendable {
    /// The daemon's name in the spool.
    package let node: String
    /// The daemon's logger.
    package let logger: Logger
    /// The spool, with its journal.
    package let spool: Spool
    /// Claims jobs for this daemon.
    package var tenure: any Tenure { spool }
    /// The reactor that serves sockets and timers.
    package let reactor: Reactor
    /// The first thread for files on the spool's own filesystem; the daemon runs there, too.
    package let files: FileThread
    /// Provider tokens and other data that outlives the daemon.
    let state: Directory
    /// Keeps other daemons out of `state`.
    private let stateLock: StateLock
    /// The provider tokens, shared by all apps with the same key.
    let tokens: TokenSources
    /// The reserve for a full volume.
    let ballast: BallastKeeper
    /// Lets the daemon read one file while it reads no other.
    let reading: ReadingGate
    /// Limits how many hooks start at the same time.
    let hooks: HookGate
    /// Signalled when the journal fails or needs room.
    package let journalWakeup: Wakeup
    /// Signalled when the status has changed.
    package let statusWakeup: Wakeup
    /// Signalled when a draining app has become idle.
    package let idleWakeup: Wakeup
    /// Detects steps of the wall clock.
    package let clock: ClockWatch

    /// Opens spool, state folder, reactor and threads. Blocks.
    ///
    /// - Throws: `SpoolFault` or `SystemError`: the daemon cannot start.
    package init(_ configuration: DaemonConfiguration, _ logger: Logger) throws {
        self.logger = logger
        node = configuration.node ?? Host.name
        clock = ClockWatch(logger)
        spool = try Spool(path: configuration.spool, node: node, journalByteCount: configuration.journalByteCount)
        state = try Self.openState(configuration.state)
        stateLock = try Self.lock(state)
        reactor = try Reactor()
        files = try FileThread()
        tokens = TokenSources(
            folder: try Self.openTokens(in: state), worker: try WorkerThread(name: "tokens"), logger: logger)
        reading = ReadingGate(on: reactor)
        hooks = HookGate(on: reactor)
        ballast = BallastKeeper(spool, on: files.worker, logger)
        (journalWakeup, statusWakeup, idleWakeup) = (Wakeup(on: reactor), Wakeup(on: reactor), Wakeup(on: reactor))
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
            hint: "stop that daemon, or set `state` to a different folder for each",
            cause: .locked("fcntl F_OFD_SETLK", state.path))
    }

    /// Opens the folder of the provider tokens, and creates it.
    private static func openTokens(in state: Directory) throws -> Directory {
        do throws(SystemError) {
            return try TokenSources.openFolder(in: state)
        } catch {
            if error.isOutOfSpace || error.isShortage { throw error }
            throw SpoolFault(
                "the folder for provider tokens cannot be used: \(error)",
                hint: "move \(state.path)/tokens away; the daemon creates that folder itself")
        }
    }
}
