package import LinuxIO
import Logging
package import ServiceProcess

extension Daemon {
    /// The settings with which a daemon is started.
    package struct Settings: Sendable {
        /// The daemon's configuration file.
        package let path: String
        /// How long a stop waits for jobs under way.
        package let drainLimit: Duration
        /// The signals, blocked before any thread was started.
        package let signals: BlockedSignals
        /// The service manager that started it; `nil` if none did.
        package let serviceManager: ServiceManager?
        /// The level of the daemon's logger, which the configuration sets and may change.
        package let logThreshold = LogThreshold()
        /// The program's version, for monitoring.
        package var version = "unknown"

        /// Creates settings.
        package init(
            path: String, drainLimit: Duration = .seconds(30), signals: BlockedSignals,
            serviceManager: ServiceManager? = nil
        ) {
            self.path = path
            self.drainLimit = drainLimit
            self.signals = signals
            self.serviceManager = serviceManager
        }
    }
}

extension Logger {
    /// Logs a signal that has no meaning for the daemon.
    func note(ignored signal: Signal) {
        let hint: MetadataValue = "send HUP to reload the configuration, TERM to stop the daemon"
        notice("signal ignored", metadata: [LogKey.signal: "\(signal.name)", LogKey.hint: hint])
    }
}
