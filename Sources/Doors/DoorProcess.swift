import APNSModel
import Configuration
import Document
package import DoorConfiguration
import JobOperations
package import LinuxIO
package import Logging
package import ServiceProcess

/// The process of the doors: reads their configuration, opens them, and ends them in order.
package actor DoorProcess {
    /// The settings with which the process is started.
    package struct Settings: Sendable {
        /// The configuration file.
        package let path: String
        /// How long a stop waits for requests to be answered and clients to leave.
        package var drainLimit = Duration.seconds(10)
        /// The signals, blocked before any thread was started.
        package let signals: BlockedSignals
        /// The service manager that started it; `nil` if none did.
        package var serviceManager: ServiceManager?
        /// The level of the logger, which the configuration sets and may change.
        package let logThreshold = LogThreshold()

        /// Creates settings.
        package init(path: String, signals: BlockedSignals, serviceManager: ServiceManager? = nil) {
            (self.path, self.signals, self.serviceManager) = (path, signals, serviceManager)
        }
    }

    /// Why the process cannot start.
    package enum StartFault: Error {
        /// The configuration has errors, which the set lists. Exit with 78.
        case configuration(DoorSet)
        /// The spool, the state folder or an address cannot be used. Exit with 78.
        case place(message: String, hint: String)
        /// The process has no thread or descriptor left. Exit with 75.
        case shortage(message: String)
    }

    private nonisolated let reactor: Reactor
    private nonisolated let settings: Settings
    private let loader: DoorLoader
    private let logger: Logger
    private var set: DoorSet
    private let relay: RelayDoor
    private var notifier: ServiceNotifier

    /// The executor of the reactor's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// Reads the configuration and opens the spool. Blocks.
    ///
    /// - Throws: `StartFault`: print it, and exit.
    package init(_ settings: Settings, makeLogger: (DoorConfiguration) -> Logger) throws(StartFault) {
        let loader = DoorLoader(path: settings.path)
        let set = loader.load()
        guard !set.hasErrors else { throw StartFault.configuration(set) }
        guard let context = set.relayContext else {
            throw StartFault.place(message: "no door is configured", hint: "add apns: to \(settings.path)")
        }
        settings.logThreshold.level = set.configuration.logLevel.level
        logger = makeLogger(set.configuration)
        (self.settings, self.loader, self.set) = (settings, loader, set)
        notifier = ServiceNotifier(settings.serviceManager, logger, starting: "starting")
        do throws(SystemError) {
            reactor = try Reactor()
        } catch {
            throw StartFault.shortage(message: "\(error)")
        }
        do throws(SystemError) {
            let (writer, known) = try SpoolWriter.open(set.configuration, logger)
            let feedback = try Self.feedback(of: set.configuration, logger)
            relay = RelayDoor(set, context, known: known, with: (reactor, writer, feedback, logger))
        } catch {
            let hint = "check spool: and state: in \(settings.path), and that this user may write there"
            throw StartFault.place(message: "\(error)", hint: hint)
        }
    }

    /// Returns the reader of feedback, if the relay needs it.
    private static func feedback(
        of configuration: DoorConfiguration, _ logger: Logger
    ) throws(SystemError) -> FeedbackWatch? {
        guard let relay = configuration.relay, relay.gone > .zero || relay.answer == .gateway else { return nil }
        let horizon = max(relay.gone, relay.wait + .seconds(60))
        return try FeedbackWatch(spool: configuration.spool, horizon: horizon, logger: logger)
    }

    // MARK: Running

    /// Works until a signal requests the end, then drains.
    ///
    /// - Throws: `SystemError`: the address cannot be used, or signals could no longer be received.
    package func run() async throws {
        if let address = set.configuration.relay?.address { try await relay.listen(on: address) }
        report(set)
        logger.notice("started", metadata: [LogKey.path: "\(set.configuration.spool)"])
        var fault: (any Error)?
        await withTaskGroup { group in
            group.addTask { await self.relay.run() }
            if let pause = notifier.heartbeat { group.addTask { await self.runHeartbeat(every: pause) } }
            if let place = set.configuration.metricsListen {
                group.addTask { await self.runMetricsListener(at: place) }
            }
            notifier.noteReady(statusLine)
            do {
                try await runSignals()
            } catch {
                logger.error("signals cannot be received", metadata: [LogKey.error: "\(error)"])
                fault = error
                await drain()
            }
            group.cancelAll()
        }
        logger.notice("stopped")
        if let fault { throw fault }
    }

    private var statusLine: String {
        let count = set.configuration.producers.count
        return "\(count) producer\(count == 1 ? "" : "s")"
    }

    /// Answers requests for metrics until the task is cancelled.
    private func runMetricsListener(at place: MetricsPlace) async {
        let relay = relay
        let listener = MetricsListener(at: place, on: reactor, logger: logger) { await relay.metrics }
        await listener.serve()
    }

    private func runHeartbeat(every pause: Duration) async {
        while !Task.isCancelled {
            notifier.beat()
            try? await reactor.sleep(for: pause)
        }
    }

    private func runSignals() async throws {
        let reader = SignalReader(reactor, settings.signals)
        while let signal = try await reader.next() {
            switch signal {
            case .hangup: await reload()
            case .terminate, .interrupt: return await drain()
            case .user1, .user2: logger.notice("signal ignored", metadata: [LogKey.signal: "\(signal.name)"])
            }
        }
    }

    // MARK: Configuration

    private func reload() async {
        notifier.noteReload()
        defer { notifier.update(statusLine) }
        let new = loader.load()
        report(new)
        guard !new.hasErrors, let context = new.relayContext else {
            return logger.error(
                "configuration is invalid and was not applied", metadata: [LogKey.path: "\(loader.path)"])
        }
        let keys = set.configuration.differences(from: new.configuration)
        if !keys.isEmpty {
            logger.warning(
                "changed configuration keys need a restart",
                metadata: [LogKey.keys: "\(keys.joined(separator: " "))"])
        }
        set = new
        settings.logThreshold.level = new.configuration.logLevel.level
        await relay.configure(new, context)
        await relay.lookForApps()
        logger.notice("configuration loaded", metadata: [LogKey.path: "\(loader.path)"])
    }

    private func report(_ set: DoorSet) {
        for finding in set.findings {
            for diagnostic in finding.diagnostics {
                logger.log(
                    level: diagnostic.severity == .error ? .error : .warning, "configuration",
                    metadata: [LogKey.error: "\(diagnostic.rendered(file: finding.file))"])
            }
        }
    }

    // MARK: The end

    private func drain() async {
        logger.notice("stopping", metadata: [LogKey.limit: "\(settings.drainLimit)"])
        notifier.noteStop(within: settings.drainLimit, "stopping")
        await relay.beginStopping()
        await relay.awaitIdle(until: .now + settings.drainLimit)
    }
}
