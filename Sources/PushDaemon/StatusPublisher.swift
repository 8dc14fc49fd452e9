import AppEngine
import Configuration
import Gateways
import LinuxIO
import Logging
import OpenSSL
import PushModel
import ServiceProcess
import SharedResources
import SpoolModel
import SpoolStore

/// Writes `status.json`, `apps.json` and `metrics.prom`, and answers requests for metrics.
final class StatusPublisher {
    private let resources: DaemonResources
    private let logger: Logger
    private let configuration: ConfigurationKeeper
    private let apps: AppSupervisor
    private let cluster: Cluster
    /// The program's version.
    var version = "unknown"
    private let startedAt = WallTime.now
    /// Why the last attempt to write the status failed; `nil` if it did not.
    private var fault: String?
    /// The list of apps that was written last.
    private var published: AppList?
    /// When the metrics may be written again, and whether they are older than the status.
    private(set) var nextMetrics = ContinuousClock.now
    private(set) var hasOldMetrics = false

    init(
        _ resources: DaemonResources, _ configuration: ConfigurationKeeper, _ apps: AppSupervisor, _ cluster: Cluster
    ) {
        (self.resources, self.configuration, self.apps, self.cluster) = (resources, configuration, apps, cluster)
        logger = resources.logger
    }

    // MARK: Status

    private var status: SpoolStatus {
        var status = SpoolStatus(
            node: resources.node, processID: Int(Host.processID), startedAt: startedAt, writtenAt: .now)
        status.isStopping = apps.isStopping
        (status.cluster, status.left) = (cluster.shown, cluster.left)
        status.apps = apps.shown.sorted { $0.name < $1.name }
        return status
    }

    /// Writes the files.
    func write() {
        let status = status
        do {
            try resources.spool.publish(status)
            try writeApps()
            try writeMetrics(for: status)
            fault = nil
        } catch {
            if fault == nil { logger.warning("status cannot be written", metadata: [LogKey.error: "\(error)"]) }
            fault = "\(error)"
        }
    }

    /// Removes the status, so that it cannot be mistaken for that of a running daemon.
    func remove() {
        do {
            try resources.spool.removeStatus()
        } catch {
            logger.warning("status cannot be removed", metadata: [LogKey.error: "\(error)"])
        }
    }

    // MARK: Apps

    /// Writes the list of apps if it has changed or was removed. It stays when the daemon ends.
    private func writeApps() throws(SystemError) {
        let set = configuration.current
        var list = AppList(node: resources.node, limits: set.daemon.limits)
        (list.mark, list.isShared) = (resources.mark, resources.spool.isShared)
        list.apps = set.apps.values.map(\.listed).sorted { $0.name < $1.name }
        if list == published, try resources.spool.hasPublishedApps() { return }
        try resources.spool.publish(list)
        published = list
    }

    // MARK: Metrics

    /// The highest average rate of metrics, in bytes a second. With a thousand apps they take megabytes.
    private static let metricsRate = 64 << 10

    /// Writes the metrics, unless that would exceed the rate.
    private func writeMetrics(for status: SpoolStatus) throws(SystemError) {
        hasOldMetrics = nextMetrics > .now
        guard !hasOldMetrics else { return }
        let text = metrics(for: status).text
        let pause = Duration.milliseconds(text.count * 1000 / Self.metricsRate)
        nextMetrics = .now + min(pause, SpoolStatus.interval)
        try resources.spool.publish(metrics: text)
    }

    /// Answers requests for metrics and probes until the task is cancelled. The daemon answers on its own thread, which
    /// proves that the thread works.
    func serveMetrics(at place: MetricsPlace, for daemon: Daemon) async {
        let listener = MetricsListener(at: place, on: resources.reactor, logger: logger) {
            await daemon.content(of: $0)
        }
        await listener.serve()
    }

    /// The content of a page as it is now. A probe of readiness writes the status, to see whether the spool can be written.
    func content(of page: ScrapeRequest.Page) -> ScrapeRequest.Content {
        switch page {
        case .metrics: return .init(metrics(for: status).text)
        case .live: return .init(Array("alive\n".utf8))
        case .ready:
            write()
            return ReadinessReport(of: status, spoolFault: fault).content
        }
    }

    private func metrics(for status: SpoolStatus) -> SpoolMetrics {
        var metrics = SpoolMetrics(status: status, version: version)
        // A figure that cannot be read is omitted; each app's own check logs the cause.
        if let space = try? resources.spool.root.filesystemSpace() {
            (metrics.freeByteCount, metrics.byteCount) = (space.freeByteCount, space.byteCount)
        }
        (metrics.syncTimes, metrics.journalByteCount) = resources.spool.journal.figures
        metrics.lostLogLineCount = StandardStream.lostErrorCount
        for app in status.apps { metrics.apps[app.name] = details(of: app.name) }
        return metrics
    }

    private func details(of name: String) -> SpoolMetrics.App {
        var app = SpoolMetrics.App()
        app.counts = apps.metrics(of: name)
        if case .certificate(let facts)? = configuration.current.apps[name]?.credentials {
            app.credentialExpiry = WallTime(epochSeconds: facts.notAfter)
        }
        if let meter = apps.runner(name)?.meter {
            app.quotaHoldEnd = meter.quotaHoldEnd(at: status.writtenAt)
            app.connectionCount = meter.connectionCount
            app.inFlightCount = meter.inFlightCount
            app.answerTimes = meter.answerTimes
        }
        return app
    }
}

extension SpoolStatus {
    /// The status in one line: `3 apps, 1 stopped, 1 stuck; 12 jobs under way`. Apps in a usual state are not listed by state.
    static func line(of apps: [SpoolStatus.App], isStopping: Bool) -> String {
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

extension ConfiguredApp {
    /// The credentials in the status.
    func shown(at now: WallTime) -> SpoolStatus.Credentials {
        let facts: CertificateFacts
        switch credentials {
        case .certificate(let found): facts = found
        case .token: return SpoolStatus.Credentials(kind: .token)
        case .serviceAccount: return SpoolStatus.Credentials(kind: .serviceAccount)
        }
        let isContained = if case .pkcs12 = configuration.credentials.identity { true } else { false }
        var shown = SpoolStatus.Credentials(kind: isContained ? .pkcs12 : .certificate)
        let notAfter = WallTime(epochSeconds: facts.notAfter)
        shown.topics = facts.allTopics
        (shown.notAfter, shown.daysLeft) = (notAfter, notAfter.days(after: now))
        return shown
    }
}
