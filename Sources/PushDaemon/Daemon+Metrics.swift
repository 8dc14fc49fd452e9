import APNSGateway
import APNSModel
import LinuxIO
import Logging
import OpenSSL
import SpoolModel
import SpoolStore

extension Daemon {
    /// What counts for an app's metrics.
    func meter(of app: String) -> AppMeter {
        if let meter = meters[app] { return meter }
        let meter = AppMeter()
        meters[app] = meter
        return meter
    }

    /// How many bytes of metrics are written a second at most, on average: with a thousand apps they are megabytes.
    private static let metricsRate = 64 << 10

    /// Writes the metrics, unless that would be too much for now.
    ///
    /// - Throws: `SystemError`: the volume is full, or may not be written to.
    func writeMetrics(beside status: SpoolStatus) throws(SystemError) {
        hasOldMetrics = nextMetrics > .now
        guard !hasOldMetrics else { return }
        let text = metrics(beside: status).text
        let pause = Duration.milliseconds(text.count * 1000 / Self.metricsRate)
        nextMetrics = .now + min(pause, SpoolStatus.interval)
        try spool.publish(metrics: text)
    }

    /// The metrics as they are now.
    func currentMetrics() -> [UInt8] { metrics(beside: status).text }

    private func metrics(beside status: SpoolStatus) -> SpoolMetrics {
        var metrics = SpoolMetrics(status: status, version: version)
        // What cannot be told is left out; each app's own look logs why.
        if let space = try? spool.root.filesystemSpace() {
            (metrics.freeByteCount, metrics.byteCount) = (space.freeByteCount, space.byteCount)
        }
        (metrics.syncTimes, metrics.journalByteCount) = spool.journal.figures
        for app in status.apps { metrics.apps[app.name] = details(of: app.name) }
        return metrics
    }

    private func details(of name: String) -> SpoolMetrics.App {
        var app = SpoolMetrics.App()
        app.counts = meters[name]?.metrics
        if case .certificate(let facts)? = configuration.apps[name]?.identity.credentials {
            app.credentialExpiry = WallTime(epochSeconds: facts.notAfter)
        }
        if let meter = runners[name]?.meter {
            app.connectionCount = meter.connectionCount
            app.inFlightCount = meter.inFlightCount
            app.answerTimes = meter.answerTimes
        }
        return app
    }

    /// Answers those who ask for metrics, until the task is cancelled.
    func runMetricsListener(at place: MetricsPlace) async {
        let listener = MetricsListener(at: place, on: reactor, logger: logger) { [self] in await currentMetrics() }
        do {
            try await listener.run()
        } catch is CancellationError {
            return
        } catch {
            let hint: Logger.MetadataValue = "choose another metrics.listen, or end who has it; then restart"
            logger.error(
                "metrics are not listened for",
                metadata: [LogKey.path: "\(place)", LogKey.error: "\(error)", LogKey.hint: hint])
        }
        // The end of this task is not the end of the daemon.
        while !Task.isCancelled { try? await reactor.sleep(for: .seconds(3600)) }
    }
}
