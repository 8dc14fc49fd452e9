import JobOperations
import LinuxIO
import Logging
import SpoolModel

/// Tells the service manager (sd_notify(3)) whether the daemon is ready, reloads or stops, and its status in one line.
///
/// Without a service manager every call does nothing.
struct ServiceNotifier {
    /// How long a start may take before jobs are taken. It includes reading the journal.
    private static let startLimit = Duration.seconds(600)
    /// How long stopping the apps and ending the journal may take, once the time for jobs is up.
    private static let endLimit = Duration.seconds(60)

    private let manager: ServiceManager?
    private let logger: Logger
    /// The last status line that was delivered.
    private var status: String?
    /// Whether readiness was delivered; `nil`: the daemon is not ready yet.
    private var isReady: Bool?
    /// Whether the last message could not be delivered.
    private var isDeaf = false

    /// Announces that the start may take long. Blocks.
    init(_ manager: ServiceManager?, _ logger: Logger) {
        (self.manager, self.logger) = (manager, logger)
        tell([.needs(Self.startLimit), .status("starting: reading the journal")])
    }

    /// How often the manager expects a sign of life; `nil` if it does not.
    var heartbeat: Duration? { manager?.heartbeat }

    /// Announces that the daemon takes jobs from now on.
    mutating func noteReady(_ line: @autoclosure () -> String) {
        isReady = false
        update(line())
    }

    /// Announces that the configuration is being read again; `update` must follow.
    mutating func noteReload() {
        guard isReady != nil else { return }
        isReady = false
        tell([.reloading])
    }

    /// Announces that the daemon stops, and how long that may take.
    mutating func noteStop(within limit: Duration, _ line: String) {
        if tell([.stopping, .needs(limit + Self.endLimit), .status(line)]) { status = line }
    }

    /// Announces that the daemon is alive.
    mutating func beat() { tell([.alive]) }

    /// Sends the changes, and messages that could not be delivered before.
    ///
    /// - Parameter line: The daemon's status in one line.
    mutating func update(_ line: @autoclosure () -> String) {
        guard manager != nil else { return }
        let line = line()
        var messages: [ServiceManager.Message] = []
        if isReady == false { messages.append(.ready) }
        if status != line { messages.append(.status(line)) }
        guard !messages.isEmpty, tell(messages) else { return }
        status = line
        if isReady == false { isReady = true }
    }

    /// Returns whether the messages were delivered, or there is no service manager.
    @discardableResult
    private mutating func tell(_ messages: [ServiceManager.Message]) -> Bool {
        do throws(SystemError) {
            try manager?.tell(messages)
            isDeaf = false
        } catch {
            if !isDeaf { warn(error) }
            isDeaf = true
        }
        return !isDeaf
    }

    private func warn(_ error: SystemError) {
        let hint: Logger.MetadataValue = "check that NOTIFY_SOCKET is still its socket; jobs are still sent"
        logger.warning("service manager cannot be notified", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
    }

    /// The daemon's status: `3 apps, 1 stopped, 1 stuck; 12 jobs under way`. Apps in a usual state are not listed by state.
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
