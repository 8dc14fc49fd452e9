import Configuration
import JobFormat
import PushModel
import ServiceProcess
import SharedResources
import SpoolModel
import SpoolStore

/// When an app's `new/` is scanned, and which names its node takes, in a cluster.
final class ScanPlan {
    /// With fewer jobs under way, a node of a cluster takes every file that was dropped on its host.
    private static let quietJobCount = 64
    /// How often the nodes of a cluster scan, usually.
    private static let clusterPause = Duration.milliseconds(500)

    private let parts: AppParts
    private let context: AppContext
    /// Which names are left to other nodes; `nil` if the daemon works alone.
    private var share: IntakeShare?
    /// When the next scan begins.
    var next = Moment.zero
    /// Whether the watch reports files; otherwise `new/` is polled.
    var isWatched = true

    init(_ parts: AppParts) {
        (self.parts, context) = (parts, parts.context)
        share = context.daemon.cluster.map { IntakeShare(of: $0.own) }
    }

    /// Whether a scan is due.
    var isDue: Bool { Moment.now >= next }

    /// Begins a scan, and plans the next one.
    func begin() {
        let rescan = context.daemon.configuration.intake.rescan
        if let cluster = context.daemon.cluster {
            // Not at the same time as other nodes.
            next = .now + min(Self.clusterPause, rescan) * Double.random(in: 0.75...1.25)
            share?.beginScan(with: cluster.nodes)
            return
        }
        let interval = context.spool.isNotifying && isWatched ? rescan : min(.seconds(2), rescan)
        // All apps scan at the same time: separate scans would each wake sleeping threads.
        next = (.now + interval).roundedDown(toMultipleOf: interval / 2)
    }

    /// Ends a scan.
    func end() { share?.endScan() }

    /// Whether to notice a listed name, or to leave it to another node for now. Call it once in a scan for each name.
    func takesListed(_ name: FileName) -> Bool {
        guard name.isJob, share?.takesListed(name) == false else { return true }
        return parts.intake.value.knows(name)
    }

    /// Whether to follow a report of the watch. In a cluster, only about known names and this node's own, or while there
    /// is little to do and other nodes, on other hosts, have not seen the file yet.
    func heeds(_ name: FileName) -> Bool {
        guard let share else { return true }
        if parts.intake.value.knows(name) || share.takesAtOnce(name) { return true }
        return !context.spool.isNotifying && parts.jobs.count < Self.quietJobCount
    }
}
