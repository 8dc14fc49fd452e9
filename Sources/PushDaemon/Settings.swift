package import LinuxIO

extension Daemon {
    /// What a daemon is started with.
    package struct Settings: Sendable {
        /// The daemon's configuration file.
        package let path: String
        /// How long a stop may take.
        package let drainLimit: Duration
        /// The signals, blocked before any thread was started.
        package let signals: BlockedSignals
        /// The service manager that started it; `nil` if none did.
        package let serviceManager: ServiceManager?
        /// The level of the daemon's logger: the configuration sets it, and changes it.
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
