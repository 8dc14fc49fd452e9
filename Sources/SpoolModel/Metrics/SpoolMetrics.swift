import JobFormat
import JournalModel
package import PushModel

/// The metrics that a daemon exports in `.pushspool/public/<node>/metrics.prom` and over HTTP.
package struct SpoolMetrics: Sendable {
    /// The name of the file.
    package static let fileName = "metrics.prom"

    /// The metrics of an app that are not in its status.
    package struct App: Sendable {
        /// The app's counters; `nil` if it never ran.
        package var counts: AppMetrics?
        /// When its credentials expire; `nil` if they do not.
        package var credentialExpiry: WallTime?
        /// When it sends again; `nil` if no used-up quota holds it.
        package var quotaHoldEnd: WallTime?
        /// The number of its connections.
        package var connectionCount = 0
        /// The number of notifications written that have no outcome yet.
        package var inFlightCount = 0
        /// The response times.
        package var answerTimes = Histogram.ofAnswers

        /// Creates metrics without values.
        package init() {}
    }

    /// The status: the node, its times, and the state of each app.
    package var status: SpoolStatus
    /// The version of the program.
    package var version: String
    /// Free space on the spool's volume; `nil` if unknown.
    package var freeByteCount: Int64?
    /// The size of the volume.
    package var byteCount: Int64?
    /// The durations of journal syncs.
    package var syncTimes = Histogram.ofSyncs
    /// The number of bytes written to the journal.
    package var journalByteCount = 0
    /// The number of log lines that were lost.
    package var lostLogLineCount = 0
    /// Further metrics of the apps in the status.
    package var apps: [String: App] = [:]

    /// Creates metrics that contain only the status.
    package init(status: SpoolStatus, version: String) {
        (self.status, self.version) = (status, version)
    }

    /// The metrics in the Prometheus text format, version 0.0.4.
    package var text: [UInt8] {
        var writer = MetricsWriter(common: ("node", status.node))
        writeDaemon(to: &writer)
        writeApps(to: &writer)
        writeJobs(to: &writer)
        writeFeedback(to: &writer)
        writeNotifications(to: &writer)
        writeConnections(to: &writer)
        return writer.bytes
    }

    private func writeDaemon(to writer: inout MetricsWriter) {
        writer.begin(.buildInfo)
        writer.add(1, ("version", version))
        writer.begin(.startTime)
        writer.add(status.startedAt)
        writer.begin(.writtenTime)
        writer.add(status.writtenAt)
        writer.begin(.stopping)
        writer.add(status.isStopping ? 1 : 0)
        writer.begin(.spoolFree)
        if let freeByteCount { writer.add(Int(freeByteCount)) }
        writer.begin(.spoolSize)
        if let byteCount { writer.add(Int(byteCount)) }
        writer.begin(.journalSync)
        writer.add(syncTimes)
        writer.begin(.journalWritten)
        writer.add(journalByteCount)
        writer.begin(.logLinesLost)
        writer.add(lostLogLineCount)
        writer.begin(.leftJobs)
        for node in status.left where node.reason != nil { writer.add(node.jobCount, ("left_by", node.node)) }
        guard let cluster = status.cluster else { return }
        writer.begin(.clusterNodes)
        writer.add(cluster.nodes.count)
        writer.begin(.clusterStandIns)
        writer.add(cluster.standsInFor.count)
        writer.begin(.clusterLease)
        writer.add(cluster.mayAct ? 1 : 0)
    }

    private func writeApps(to writer: inout MetricsWriter) {
        writer.begin(.appState)
        for app in status.apps {
            for state in SpoolStatus.AppState.allCases {
                writer.add(app.state == state ? 1 : 0, ("app", app.name), ("state", state.rawValue))
            }
        }
        writer.begin(.appFree)
        for (name, counts) in counted { if let free = counts.freeByteCount { writer.add(Int(free), ("app", name)) } }
        writer.begin(.quotaHoldEnd)
        for (name, app) in known { writer.add(app.quotaHoldEnd, ("app", name)) }
        writer.begin(.credentialExpiry)
        for (name, app) in known { writer.add(app.credentialExpiry, ("app", name), ("kind", "certificate")) }
    }

    private func writeJobs(to writer: inout MetricsWriter) {
        writeQueues(to: &writer)
        write(.jobsClaimed, to: &writer, \.claimedCount)
        writer.begin(.jobsFinished)
        for (name, counts) in counted {
            writer.add(counts.doneCount, ("app", name), ("state", Conclusion.State.done.rawValue))
            writer.add(counts.failedCount, ("app", name), ("state", Conclusion.State.failed.rawValue))
        }
        writer.begin(.jobFailures)
        for (name, counts) in counted {
            for code in ResultCode.allCases {
                if let count = counts.failedCounts[code] { writer.add(count, ("app", name), ("code", code.rawValue)) }
            }
        }
        writer.begin(.jobsHeld)
        for (name, counts) in counted {
            for cause in RecoveryPlan.HoldReason.allCases {
                writer.add(counts.heldCounts[cause] ?? 0, ("app", name), ("cause", cause.rawValue))
            }
        }
        write(.jobsOverwritten, to: &writer, \.overwrittenCount)
        writer.begin(.jobWait)
        for (name, counts) in counted { writer.add(counts.waitTimes, ("app", name)) }
        writer.begin(.jobSend)
        for (name, counts) in counted { writer.add(counts.sendTimes, ("app", name)) }
    }

    private func writeQueues(to writer: inout MetricsWriter) {
        writer.begin(.queueJobs)
        for (name, counts) in counted {
            let queue = counts.queue
            writer.add(queue.waitingCount, ("app", name), ("folder", "new"))
            writer.add(queue.activeCount, ("app", name), ("folder", "work"))
            if let heldCount = queue.heldCount { writer.add(heldCount, ("app", name), ("folder", "hold")) }
        }
        writer.begin(.filesIgnored)
        for (name, counts) in counted { writer.add(counts.queue.ignoredCount, ("app", name)) }
        writer.begin(.queueOldest)
        for (name, counts) in counted {
            writer.add(counts.queue.oldestWaiting, ("app", name), ("folder", "new"))
            writer.add(counts.queue.oldestActive, ("app", name), ("folder", "work"))
        }
    }

    private func writeFeedback(to writer: inout MetricsWriter) {
        writer.begin(.feedbackFiles)
        for (name, counts) in counted {
            if let count = counts.queue.feedbackCount { writer.add(count, ("app", name)) }
        }
        writer.begin(.feedbackOldest)
        for (name, counts) in counted { writer.add(counts.queue.oldestFeedback, ("app", name)) }
        writer.begin(.hookRuns)
        for (name, counts) in counted where !counts.hookEnds.isEmpty {
            for end in AppMetrics.HookEnd.allCases {
                writer.add(counts.hookEnds[end] ?? 0, ("app", name), ("result", end.rawValue))
            }
        }
        writer.begin(.hookFailing)
        for (name, counts) in counted { writer.add(counts.queue.hookFailingSince, ("app", name)) }
    }

    private func writeNotifications(to writer: inout MetricsWriter) {
        writer.begin(.notifications)
        for (name, counts) in counted {
            for kind in Outcome.Kind.allCases {
                writer.add(counts.tally[kind], ("app", name), ("outcome", kind.rawValue))
            }
        }
        writer.begin(.lastAccepted)
        for (name, counts) in counted { writer.add(counts.lastAcceptedAt, ("app", name)) }
        writer.begin(.notificationFailures)
        for (name, counts) in counted {
            for (failure, count) in counts.failures.sorted(by: { $0.key < $1.key }) {
                writer.add(count, ("app", name), ("outcome", failure.outcome), ("reason", failure.reason))
            }
        }
        write(.notificationsRevoked, to: &writer, \.revokedCount)
        write(.notificationsResent, to: &writer, \.resentCount)
        write(.notificationsDoubtful, to: &writer, \.doubtfulCount)
    }

    private func writeConnections(to writer: inout MetricsWriter) {
        writer.begin(.notificationsInFlight)
        for (name, app) in known where app.counts != nil { writer.add(app.inFlightCount, ("app", name)) }
        writer.begin(.answer)
        for (name, app) in known { writer.add(app.answerTimes, ("app", name)) }
        writer.begin(.connections)
        for (name, app) in known where app.counts != nil { writer.add(app.connectionCount, ("app", name)) }
        write(.connectionsOpened, to: &writer, \.openedCount)
        write(.connectionFailures, to: &writer, \.brokenCount)
    }

    private func write(_ metric: Metric, to writer: inout MetricsWriter, _ count: (AppMetrics) -> Int) {
        writer.begin(metric)
        for (name, counts) in counted { writer.add(count(counts), ("app", name)) }
    }

    /// The apps with further metrics, in the order of the status.
    private var known: [(name: String, app: App)] {
        status.apps.compactMap { shown in apps[shown.name].map { (name: shown.name, app: $0) } }
    }

    /// The apps that have run, with their counters.
    private var counted: [(name: String, counts: AppMetrics)] {
        known.compactMap { entry in entry.app.counts.map { (name: entry.name, counts: $0) } }
    }
}
