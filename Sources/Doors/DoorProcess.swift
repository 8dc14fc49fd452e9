package import Configuration
import Document
import DoorModel
package import LinuxIO
package import Logging
import PushModel
package import ServiceProcess
import SpoolModel

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
    private let doors: [any Door]
    private let probe: SpoolProbe
    private var notifier: ServiceNotifier
    private var isStopping = false

    /// The executor of the reactor's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// Reads the configuration and opens the spool. Blocks.
    ///
    /// - Throws: `StartFault`: print it, and exit.
    package init(_ settings: Settings, makeLogger: (DoorConfiguration) -> Logger) throws(StartFault) {
        let loader = DoorLoader(path: settings.path)
        var set = loader.load()
        guard !set.hasErrors else { throw StartFault.configuration(set) }
        guard set.configuration.hasDoor else {
            let hint = "add apns:, http:, xmlrpc: or zeromq: to \(settings.path)"
            throw StartFault.place(message: "no door is configured", hint: hint)
        }
        settings.logThreshold.level = set.configuration.logLevel.level
        logger = makeLogger(set.configuration)
        Self.fitConnections(of: &set, logger)
        (self.settings, self.loader, self.set) = (settings, loader, set)
        notifier = ServiceNotifier(settings.serviceManager, logger, starting: "starting")
        do throws(SystemError) {
            reactor = try Reactor()
        } catch {
            throw StartFault.shortage(message: "\(error)")
        }
        Self.makeFolder(set.configuration.state)
        do throws(SystemError) {
            probe = try SpoolProbe(set.configuration)
            doors = try DoorSetup(set, reactor, logger).doors(probe)
        } catch {
            let hint = "check spool: and state: in \(settings.path), and that this user may write there"
            throw StartFault.place(message: "\(error)", hint: hint)
        }
    }

    /// Makes the state folder if it is not there. If that fails, the probes and the doors that need it tell why.
    private static func makeFolder(_ path: String) {
        let place = FilePlace(path)
        _ = try? Directory.open(path: place.directory).makeChild(place.nameBytes, mode: 0o700)
    }

    /// How many descriptors are for other things than connections, and how many of those nothing but the runtime gets: it
    /// ends the process when there is none.
    private static let (spareDescriptors, reserve) = (512, 64)

    /// Lowers the limit of connections to what the limit of open files allows all doors together.
    private static func fitConnections(of set: inout DoorSet, _ logger: Logger) {
        let configuration = set.configuration
        let places: [Any?] = [configuration.relay, configuration.http, configuration.xmlrpc]
        let count = max(1, places.count { $0 != nil })
        do throws(SystemError) {
            let most = try OpenFileLimit.raise(keeping: reserve)
            let share = max(1, (most - spareDescriptors) / count)
            guard share < configuration.connectionLimit else { return }
            logger.warning(
                "limits.connections is lowered to fit the limit of open files",
                metadata: [LogKey.limit: "\(share)", LogKey.hint: "raise LimitNOFILE= of the unit"])
            set.configuration.connectionLimit = share
        } catch {
            logger.warning("the limit of open files is unknown", metadata: [LogKey.error: "\(error)"])
        }
    }

    // MARK: Running

    /// Works until a signal requests the end, then drains.
    ///
    /// - Throws: `SystemError`: the address cannot be used, or signals could no longer be received.
    package func run() async throws {
        for door in doors { try await door.listen() }
        report(set)
        logger.notice("started", metadata: [LogKey.path: "\(set.configuration.spool)"])
        let fault = await TaskThread.bypassed { await work() }
        logger.notice("stopped")
        if let fault { throw fault }
    }

    /// Runs the doors until a signal requests the end, then drains.
    ///
    /// - Returns: Why signals can no longer be received, if so.
    private func work() async -> (any Error)? {
        var fault: (any Error)?
        await withTaskGroup { group in
            for door in doors { group.addTask { await door.run() } }
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
        return fault
    }

    private var statusLine: String {
        let count = set.configuration.producers.count
        return "\(count) producer\(count == 1 ? "" : "s")"
    }

    /// Answers requests for metrics and probes until the task is cancelled.
    private func runMetricsListener(at place: MetricsPlace) async {
        let listener = MetricsListener(at: place, on: reactor, logger: logger) { await self.content(of: $0) }
        await listener.serve()
    }

    private func content(of page: ScrapeRequest.Page) async -> ScrapeRequest.Content {
        // Each door answers on its own reactor, which proves that its thread works.
        var figures: [(name: String, counts: DoorCounts)] = []
        for door in doors { figures.append((door.name, await door.figures)) }
        switch page {
        case .metrics: return .init(Self.metrics(of: figures))
        case .live: return .init(Array("alive\n".utf8))
        case .ready:
            var report = await probe.report()
            if isStopping { report.add("door", fault: "stopping") }
            return report.content
        }
    }

    /// Returns the metrics of doors in the Prometheus text format.
    private static func metrics(of figures: [(name: String, counts: DoorCounts)]) -> [UInt8] {
        DoorCounts.metrics(
            of: figures, version: Version.current, lostLogLineCount: StandardStream.lostErrorCount)
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
        var new = loader.load()
        report(new)
        guard !new.hasErrors else {
            return logger.error(
                "configuration is invalid and was not applied", metadata: [LogKey.path: "\(loader.path)"])
        }
        Self.fitConnections(of: &new, logger)
        let keys = set.configuration.differences(from: new.configuration)
        if !keys.isEmpty {
            logger.warning(
                "changed configuration keys need a restart",
                metadata: [LogKey.keys: "\(keys.joined(separator: " "))"])
        }
        set = new
        settings.logThreshold.level = new.configuration.logLevel.level
        for door in doors { await door.configure(new) }
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
        let deadline = ContinuousClock.now + settings.drainLimit
        isStopping = true
        for door in doors { await door.beginStopping() }
        for door in doors { await door.awaitIdle(until: deadline) }
    }
}
