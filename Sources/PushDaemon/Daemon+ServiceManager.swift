import LinuxIO
import Logging
import SpoolModel

/// What the service manager has been told, and what it is to be told again.
struct ToldNews: Sendable {
    /// The last status line.
    var status: String?
    /// Whether it knows that the daemon is ready; `nil`: the daemon is not ready yet.
    var isReady: Bool?
    /// Whether it could not be told the last time.
    var isDeaf = false
}

extension Daemon {
    /// How long a start may take until jobs are taken, for a journal is read before.
    private static let startLimit = Duration.seconds(600)
    /// How long it may take, at a stop, to end the apps and the journal once their time is up.
    private static let endLimit = Duration.seconds(60)

    /// Says that the start may take long. Blocks.
    ///
    /// - Returns: what is known of the manager then.
    static func announceStart(to manager: ServiceManager?, _ logger: Logger) -> ToldNews {
        do throws(SystemError) {
            try manager?.tell([.needs(startLimit), .status("starting: the journal is read")])
            return ToldNews()
        } catch {
            warn(of: error, logger)
            return ToldNews(isDeaf: true)
        }
    }

    private static func warn(of error: SystemError, _ logger: Logger) {
        let hint: Logger.MetadataValue = "see whether NOTIFY_SOCKET is still its socket; jobs are sent all the same"
        logger.warning("service manager cannot be told", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
    }

    /// Says that the spool is watched, or cannot be, and that jobs are taken from now on; unless the end has begun already.
    func tellReady() {
        guard !isStopping else { return }
        news.isReady = false
        tellNews()
    }

    /// Says that the configuration is read again; `tellRead` must follow.
    func tellReading() {
        guard news.isReady != nil, !isStopping else { return }
        news.isReady = false
        tell([.reloading])
    }

    /// Says that it has been read.
    func tellRead() {
        tellNews()
    }

    /// Says that the end has begun, and how long it may take.
    func tellStopping(within limit: Duration) {
        if tell([.stopping, .needs(limit + Self.endLimit), .status(statusLine)]) { news.status = statusLine }
    }

    /// Tells what is new, or could not be told before.
    func tellNews() {
        guard serviceManager != nil else { return }
        let line = statusLine
        var messages: [ServiceManager.Message] = []
        if news.isReady == false { messages.append(.ready) }
        if news.status != line { messages.append(.status(line)) }
        guard !messages.isEmpty, tell(messages) else { return }
        news.status = line
        if news.isReady == false { news.isReady = true }
    }

    /// Says every so often that the daemon works, until the task is cancelled.
    ///
    /// Each time has proved it: the reactor's timer has rung, and the thread for the spool's files has come to this task. An
    /// app whose own filesystem hangs has threads of its own and is not in the way; nor is a gateway.
    func runHeartbeat(every pause: Duration) async {
        while !Task.isCancelled {
            tell([.alive])
            try? await reactor.sleep(for: pause)
        }
    }

    /// Returns whether there was nobody to tell, or it was told.
    @discardableResult
    private func tell(_ messages: [ServiceManager.Message]) -> Bool {
        do throws(SystemError) {
            try serviceManager?.tell(messages)
            news.isDeaf = false
        } catch {
            if !news.isDeaf { Self.warn(of: error, logger) }
            news.isDeaf = true
        }
        return !news.isDeaf
    }

    /// The daemon in a line: `3 apps, 1 stopped, 1 stuck; 12 jobs under way`.
    private var statusLine: String {
        Self.statusLine(of: apps, isStopping: isStopping)
    }

    /// The same of these apps; those that send, or have nothing to send, are not told apart.
    static func statusLine(of apps: [SpoolStatus.App], isStopping: Bool) -> String {
        let jobCount = apps.reduce(0) { $0 + $1.jobCount }
        let isUsual: Set<SpoolStatus.AppState> = [.idle, .sending, .connecting]
        let others = SpoolStatus.AppState.allCases.filter { !isUsual.contains($0) }.compactMap { state -> String? in
            let count = apps.count { $0.state == state }
            return count == 0 ? nil : "\(count) \(state.rawValue)"
        }
        let parts = ["\(apps.count) app\(apps.count == 1 ? "" : "s")"] + others
        let line = "\(parts.joined(separator: ", ")); \(jobCount) job\(jobCount == 1 ? "" : "s") under way"
        return isStopping ? "stopping: \(line)" : line
    }
}
