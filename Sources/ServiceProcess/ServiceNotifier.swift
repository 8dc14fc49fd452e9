package import LinuxIO
package import Logging

/// Tells the service manager (sd_notify(3)) whether the process is ready, reloads or stops, and its status in one line.
///
/// Without a service manager every call does nothing.
package struct ServiceNotifier {
    /// How long a start may take. It includes reading the daemon's journal.
    private static let startLimit = Duration.seconds(600)
    /// How long the end may take, once the time for the work under way is up.
    private static let endLimit = Duration.seconds(60)

    private let manager: ServiceManager?
    private let logger: Logger
    /// The last status line that was delivered.
    private var status: String?
    /// Whether readiness was delivered; `nil`: the process is not ready yet.
    private var isReady: Bool?
    /// Whether the last message could not be delivered.
    private var isDeaf = false

    /// Announces that the start may take long, with a status line. Blocks.
    package init(_ manager: ServiceManager?, _ logger: Logger, starting line: String) {
        (self.manager, self.logger) = (manager, logger)
        send([.needs(Self.startLimit), .status(line)])
    }

    /// How often the manager expects a sign of life; `nil` if it does not.
    package var heartbeat: Duration? { manager?.heartbeat }

    /// Announces that the process does its work from now on.
    package mutating func noteReady(_ line: @autoclosure () -> String) {
        isReady = false
        update(line())
    }

    /// Announces that the configuration is being read again; `update` must follow.
    package mutating func noteReload() {
        guard isReady != nil else { return }
        isReady = false
        send([.reloading])
    }

    /// Announces that the process stops, and how long that may take.
    package mutating func noteStop(within limit: Duration, _ line: String) {
        if send([.stopping, .needs(limit + Self.endLimit), .status(line)]) { status = line }
    }

    /// Announces that the process is alive.
    package mutating func beat() { send([.alive]) }

    /// Sends the changes, and messages that could not be delivered before.
    ///
    /// - Parameter line: The status in one line.
    package mutating func update(_ line: @autoclosure () -> String) {
        guard manager != nil else { return }
        let line = line()
        var messages: [ServiceManager.Message] = []
        if isReady == false { messages.append(.ready) }
        if status != line { messages.append(.status(line)) }
        guard !messages.isEmpty, send(messages) else { return }
        status = line
        if isReady == false { isReady = true }
    }

    /// Returns whether the messages were delivered, or there is no service manager.
    @discardableResult
    private mutating func send(_ messages: [ServiceManager.Message]) -> Bool {
        do throws(SystemError) {
            // One that does not read is waited for once, not for each message.
            try manager?.notify(messages, waits: !isDeaf)
            isDeaf = false
        } catch {
            if !isDeaf { warn(error) }
            isDeaf = true
        }
        return !isDeaf
    }

    private func warn(_ error: SystemError) {
        let hint: Logger.MetadataValue = "check that NOTIFY_SOCKET is still its socket; the work goes on"
        logger.warning("service manager cannot be notified", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
    }
}
