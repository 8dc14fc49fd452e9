import APNSGateway
import Configuration
import LinuxIO
import Logging
import SpoolStore

/// The resources that the daemon opens once at its start, and shares with its parts and its apps.
struct DaemonResources {
    /// The daemon's name in the spool.
    let node: String
    let logger: Logger
    let spool: Spool
    /// Claims jobs for this daemon.
    var tenure: any Tenure { spool }
    let reactor: Reactor
    /// The threads for files on the spool's own filesystem; the daemon runs there, too.
    let files: FileThread
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
    /// Rung when the journal fails or needs room.
    let journalBell: Bell
    /// Rung when the status has changed.
    let statusBell: Bell
    /// Detects steps of the wall clock.
    let clock: ClockWatch

    /// Opens spool, state folder, reactor and threads. Blocks.
    ///
    /// - Parameters:
    ///   - configuration: The daemon's configuration.
    ///   - path: The configuration file, for messages.
    ///   - logger: The daemon's logger.
    /// - Throws: `StartFault`: print it, and exit with 78, or with 75 if it may pass.
    init(_ configuration: DaemonConfiguration, path: String, _ logger: Logger) throws(Daemon.StartFault) {
        self.logger = logger
        node = configuration.node ?? Host.name
        clock = ClockWatch(logger)
        do {
            spool = try Spool(path: configuration.spool, node: node, journalByteCount: configuration.journalByteCount)
            state = try Self.openState(configuration.state)
            stateLock = try Self.lock(state)
            reactor = try Reactor()
            files = try FileThread(WorkerThread(name: "files"))
            tokens = TokenSources(
                folder: try Self.openTokens(in: state), worker: try WorkerThread(name: "tokens"), logger: logger)
        } catch let fault as Daemon.StartFault {
            throw fault
        } catch {
            throw Daemon.StartFault(error, path: path)
        }
        reading = ReadingGate(on: reactor)
        hooks = HookGate(on: reactor)
        ballast = BallastKeeper(spool, on: files.worker, logger)
        (journalBell, statusBell) = (Bell(on: reactor), Bell(on: reactor))
    }

    /// Opens the state folder, and creates it if only its last component is missing.
    private static func openState(_ path: String) throws -> Directory {
        let state: Directory
        do throws(SystemError) {
            state = try Directory.open(path: path)
        } catch {
            guard error.isNotFound else { throw error }
            let parent = try Directory.open(path: ConfigurationFile.folder(of: path))
            state = try parent.makeChild(Array(ConfigurationFile.name(of: path).utf8), mode: 0o700)
        }
        try state.requirePrivate()
        return state
    }

    private static func lock(_ state: Directory) throws -> StateLock {
        if let lock = try StateLock(on: state) { return lock }
        throw Daemon.StartFault.shortage(
            message: "another daemon uses the state folder \(state.path)",
            hint: "stop that daemon, or set `state` to a different folder for each")
    }

    /// Opens the folder of the provider tokens, and creates it.
    private static func openTokens(in state: Directory) throws -> Directory {
        do throws(SystemError) {
            return try TokenSources.openFolder(in: state)
        } catch {
            if error.isOutOfSpace || error.isShortage { throw error }
            throw Daemon.StartFault.spool(
                message: "the folder for provider tokens cannot be used: \(error)",
                hint: "move \(state.path)/tokens away; the daemon creates that folder itself")
        }
    }
}

extension DescriptorBudget {
    /// Raises the process's limit of open files, and checks that it is enough for the configured apps.
    ///
    /// - Throws: `StartFault`: the limit is too low for them.
    static func raised(for set: ConfigurationSet, _ logger: Logger) throws(Daemon.StartFault) -> DescriptorBudget {
        var limit = Int.max
        do throws(SystemError) {
            limit = try OpenFileLimit.raise(keeping: reserve)
        } catch {
            logger.warning("limit on open files cannot be raised", metadata: [LogKey.error: "\(error)"])
        }
        var budget = DescriptorBudget(limit: limit)
        budget.hasMetricsListener = set.daemon.metricsListen != nil
        // Without /proc the number is unknown, and only the reserve covers them.
        budget.inheritedCount = max(0, ((try? OpenFileLimit.openCount()) ?? 0) - ofEveryProcess)
        if let shortage = budget.shortage(forApps: set.apps.count) { throw Daemon.StartFault.limit(shortage) }
        return budget
    }
}
