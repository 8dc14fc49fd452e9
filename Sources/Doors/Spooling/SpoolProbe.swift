import Configuration
import DoorModel
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SpoolInspection
import SpoolModel

/// Finds out whether a job could be dropped now, for probes. Drops none.
///
/// It has a thread of its own, because files block. Anybody may ask, so it names no path and no app.
actor SpoolProbe {
    private let worker: WorkerThread
    private let access: SpoolAccess
    private let paths: (spool: String, state: String)
    private var last: (report: ReadinessReport, madeAt: Moment)?

    /// How long a report counts.
    private static let freshness = Duration.seconds(1)

    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// Opens the spool. Blocks.
    ///
    /// - Throws: `SystemError`: the spool cannot be used, or there is no thread left.
    init(_ configuration: DoorConfiguration) throws(SystemError) {
        worker = try WorkerThread(name: "probe")
        // Each request that fails is logged where it fails.
        access = try SpoolAccess(configuration, Logger(label: "probe") { _ in SwiftLogNoOpLogHandler() })
        paths = (configuration.spool, configuration.state)
    }

    /// Returns what a probe of readiness is told.
    func report() -> ReadinessReport {
        if let last, .now < last.madeAt + Self.freshness { return last.report }
        var report = ReadinessReport()
        let spool = paths.spool
        report.add("spool", fault: Self.fault { _ = try Directory.open(path: spool) })
        report.add("space", fault: Self.fault { try access.requireSpace() })
        report.add("state", fault: Self.fault { try Host.requireWritable(paths.state) })
        report.add("apps", fault: appFault)
        // A door takes jobs while the daemon is stopped: the spool keeps them.
        let nodes = StatusFile.all(of: spool).map(\.node).sorted()
        report.add(
            "daemon", note: nodes.isEmpty ? "not running; jobs wait in the spool" : "ok")
        last = (report, .now)
        return report
    }

    /// Why no app takes a job.
    private var appFault: String? {
        guard let apps = access.router()?.apps else { return "unknown; start the daemon once" }
        let faults = apps.compactMap { app in Self.fault { try access.requireRoom(app.name) } }
        guard !apps.isEmpty else { return "there is none" }
        return faults.count < apps.count ? nil : "none takes a job: \(faults[0])"
    }

    private static func fault(_ work: () throws -> Void) -> String? {
        do {
            try work()
            return nil
        } catch {
            return error.cause
        }
    }
}
