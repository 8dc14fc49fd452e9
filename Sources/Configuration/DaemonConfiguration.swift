package import Document
package import ServiceProcess
package import SpoolModel
package import SpoolStore

/// The content of `pushspool.yaml`: the spool, limits and behavior of one daemon.
package struct DaemonConfiguration: Hashable, Sendable {
    /// The socket for operators' commands.
    package struct Control: Hashable, Sendable {
        /// The folder of the socket, relative to the daemon's file.
        package var folder = "/run/pushspool"
        /// The group that may use the socket, by name or number; `nil`: the daemon's own group.
        package var group: String?
    }

    /// Which files are taken, and when.
    package struct Intake: Hashable, Sendable {
        /// When a file is trusted, and when it fails. The file has `settle`, `patience` and `require_end` of these.
        package var rules = IntakeRules()
        /// How long after a job was sent another job of its app with the same `id:` counts as a duplicate; zero: never.
        package var dedupe = Duration.seconds(7 * 86_400)
        /// Whether a job also counts as a duplicate if its file has the name, the modification time and the bytes of a job
        /// that was sent.
        package var comparesFiles = false
        /// How often the whole spool is scanned, regardless of kernel events.
        package var rescan = Duration.seconds(30)
    }

    /// How large the journal is, and when it is synced.
    package struct Journal: Hashable, Sendable {
        /// The longest time that an outcome stays unsynced if no task waits for its sync.
        package var syncInterval = Duration.milliseconds(5)
        /// The most outcomes that stay unsynced.
        package var syncRecords = 256
        /// The size of a new journal in bytes.
        package var byteCount = 64 << 20
    }

    /// The spool's root, relative to the daemon's file.
    package var spool = "/var/spool/pushspool"
    /// The daemon's folder for state that survives restarts, relative to the daemon's file.
    package var state = "/var/lib/pushspool"
    /// The folder of `<app>.yaml` files, relative to the daemon's file.
    package var apps = "apps"
    /// This daemon's name among the daemons that share the spool; `nil`: the host name.
    package var node: String?
    /// The terms of the cluster of daemons that share the spool; `nil`: this daemon works alone.
    package var cluster: ClusterTerms?
    /// The limits on documents.
    package var limits = DocumentLimits()
    /// The bytes that must be free on a volume for jobs to be claimed; `nil`: the larger of 64 MiB and 2 %.
    package var freeSpace: Int64?
    /// Which files are taken, and when.
    package var intake = Intake()
    /// How large the journal is, and when it is synced.
    package var journal = Journal()
    /// The longest time that feedback lines wait before their file is published.
    package var feedbackEvery = Duration.seconds(1)
    /// How long archives and unread feedback are kept.
    package var retention = RetentionRules()
    /// The address where metrics are served; `nil`: none, metrics are only written to a file.
    package var metricsListen: MetricsPlace?
    /// Where operators' commands are taken.
    package var control = Control()
    /// The format of log lines.
    package var logFormat = LogFormat.text
    /// The lowest severity that is logged.
    package var logLevel = LogLevel.info

    /// Returns the keys whose values differ from those in `other`, as spelled in the file, except `log.level`. A change
    /// of any of them takes effect only after a restart.
    package func differences(from other: DaemonConfiguration) -> [String] {
        [
            ("spool", spool == other.spool), ("state", state == other.state), ("apps", apps == other.apps),
            ("node", node == other.node), ("cluster", cluster == other.cluster),
            ("limits.document", limits.byteCount == other.limits.byteCount),
            ("limits.free_space", freeSpace == other.freeSpace),
            ("limits.line", limits.lineByteCount == other.limits.lineByteCount),
            ("limits.nesting", limits.depth == other.limits.depth),
            ("intake.settle", intake.rules.settle == other.intake.rules.settle),
            ("intake.patience", intake.rules.patience == other.intake.rules.patience),
            ("intake.rescan", intake.rescan == other.intake.rescan),
            ("intake.require_end", intake.rules.requireEnd == other.intake.rules.requireEnd),
            ("intake.dedupe", intake.dedupe == other.intake.dedupe),
            ("intake.dedupe_content", intake.comparesFiles == other.intake.comparesFiles),
            ("journal.sync_interval", journal.syncInterval == other.journal.syncInterval),
            ("journal.sync_records", journal.syncRecords == other.journal.syncRecords),
            ("journal.size", journal.byteCount == other.journal.byteCount),
            ("archive.keep_done", retention.done == other.retention.done),
            ("archive.keep_failed", retention.failed == other.retention.failed),
            ("archive.keep_feedback", retention.feedback == other.retention.feedback),
            ("feedback.every", feedbackEvery == other.feedbackEvery),
            ("metrics.listen", metricsListen == other.metricsListen),
            ("log.format", logFormat == other.logFormat), ("control.folder", control.folder == other.control.folder),
            ("control.group", control.group == other.control.group),
        ].filter { !$0.1 }.map(\.0)
    }

    /// Creates the configuration of an empty file.
    package init() {}
}

extension DaemonConfiguration {
    /// The name of a node's control socket.
    package static func controlName(of node: String) -> String { node + ".sock" }
}
