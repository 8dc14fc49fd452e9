package import Document
package import SpoolModel

/// What `pushspool.yaml` says: one daemon's spool, limits and manners.
package struct DaemonConfiguration: Sendable {
    /// How a log line is written.
    package enum LogFormat: String, CaseIterable, Sendable {
        /// `key=value` words behind a message.
        case text
        /// One JSON object a line.
        case json
    }

    /// The least severe events that are logged.
    package enum LogLevel: String, CaseIterable, Sendable {
        /// As debug: nothing finer is told.
        case trace
        /// Every connection.
        case debug
        /// Every start and stop.
        case info
        /// Every job.
        case notice
        /// What may need a person.
        case warning
        /// What does need a person.
        case error
    }

    /// The spool's root, relative to the file.
    package var spool = "/var/spool/pushspool"
    /// The daemon's own folder for what must outlive it, relative to the file.
    package var state = "/var/lib/pushspool"
    /// The folder of `<app>.yaml` files, relative to the file.
    package var apps = "apps"
    /// This daemon's name among those that share the spool; `nil`: the host's.
    package var node: String?
    /// What documents may be.
    package var limits = DocumentLimits()
    /// How many bytes must stay free on a volume for jobs to be taken; `nil`: the larger of 64 MiB and 2 %.
    package var freeSpace: Int64?
    /// How long a file written in place must be quiet before it is looked at.
    package var settle = Duration.seconds(1)
    /// How long a faulty file written in place may still become whole.
    package var patience = Duration.seconds(10)
    /// Which files must carry an end marker.
    package var requireEnd = IntakeRules.RequireEnd.never
    /// For how long after a job was sent another one of its app with the same `id:` is a duplicate; zero: never.
    package var dedupe = Duration.seconds(7 * 86_400)
    /// Whether it is one, too, whose file has the name, the modification time and the bytes of one that was sent.
    package var comparesFiles = false
    /// How often everything is scanned, whatever the kernel has told.
    package var rescan = Duration.seconds(30)
    /// The longest that an outcome which nobody waits for stays unsynced.
    package var syncInterval = Duration.milliseconds(5)
    /// How many such there may be.
    package var syncRecords = 256
    /// How large the journal is made.
    package var journalByteCount = 64 << 20
    /// The longest that feedback lines wait for their file.
    package var feedbackEvery = Duration.seconds(1)
    /// How long archives and unread feedback are kept.
    package var retention = RetentionRules()
    /// Where metrics can be asked for; `nil`: nowhere, they are in a file only.
    package var metricsListen: MetricsPlace?
    /// The folder of the control socket, relative to the file.
    package var controlFolder = "/run/pushspool"
    /// The group that may use it, by name or number; `nil`: the daemon's own.
    package var controlGroup: String?
    /// How log lines are written.
    package var logFormat = LogFormat.text
    /// Which are.
    package var logLevel = LogLevel.info

    /// The keys whose values differ from `other`'s, as the file has them, but for `log.level`. Each takes a restart to be used.
    package func differences(from other: DaemonConfiguration) -> [String] {
        [
            ("spool", spool == other.spool), ("state", state == other.state), ("apps", apps == other.apps),
            ("node", node == other.node), ("limits.document", limits.byteCount == other.limits.byteCount),
            ("limits.free_space", freeSpace == other.freeSpace),
            ("limits.line", limits.lineByteCount == other.limits.lineByteCount),
            ("limits.nesting", limits.depth == other.limits.depth), ("intake.settle", settle == other.settle),
            ("intake.patience", patience == other.patience), ("intake.rescan", rescan == other.rescan),
            ("intake.require_end", requireEnd == other.requireEnd), ("intake.dedupe", dedupe == other.dedupe),
            ("intake.dedupe_content", comparesFiles == other.comparesFiles),
            ("journal.sync_interval", syncInterval == other.syncInterval),
            ("journal.sync_records", syncRecords == other.syncRecords),
            ("journal.size", journalByteCount == other.journalByteCount),
            ("archive.keep_done", retention.done == other.retention.done),
            ("archive.keep_failed", retention.failed == other.retention.failed),
            ("archive.keep_feedback", retention.feedback == other.retention.feedback),
            ("feedback.every", feedbackEvery == other.feedbackEvery),
            ("metrics.listen", metricsListen == other.metricsListen),
            ("log.format", logFormat == other.logFormat), ("control.folder", controlFolder == other.controlFolder),
            ("control.group", controlGroup == other.controlGroup),
        ].filter { !$0.1 }.map(\.0)
    }

    /// Creates the configuration of an empty file.
    package init() {}
}
