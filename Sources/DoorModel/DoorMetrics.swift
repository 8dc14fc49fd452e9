package import PushModel
package import SpoolModel

/// The metrics of the doors, by their names in monitoring (pushspool-door(1)).
package enum DoorMetric: MetricFamily, CaseIterable, Hashable, Sendable {
    case buildInfo = "pushspool_door_build_info: The version of the process; always 1."
    case logLinesLost = """
        pushspool_door_log_lines_lost_total: Log lines that were dropped because standard error was not read, or \
        could not be written.
        """
    case connections = "pushspool_door_connections: Open connections."
    case connectionsOpened = "pushspool_door_connections_opened_total: Connections that were opened."
    case connectionsRefused = """
        pushspool_door_connections_refused_total: Connections that were reset because there were too many.
        """
    case requests = "pushspool_door_requests_total: Requests."
    case requestsAccepted = "pushspool_door_requests_accepted_total: Requests that were accepted as jobs."
    case requestsRepeated = """
        pushspool_door_requests_repeated_total: Requests that repeated another and were not spooled again.
        """
    case requestsRefused = "pushspool_door_requests_refused_total: Requests that were refused, by reason."
    case requestsWaiting = "pushspool_door_requests_waiting: Requests that wait for their job."
    case jobs = "pushspool_door_jobs_total: Jobs that were dropped."
    case drop = "pushspool_door_drop_duration_seconds: Time to drop a job, with its syncs."
    case violations = "pushspool_door_violations_total: Violations of the protocol by clients."

    /// Its name, type and help text.
    package var family: MetricFamily { rawValue }
}

/// The figures of a door since its start.
package struct DoorCounts: Sendable {
    /// The number of open connections.
    package var openConnectionCount = 0
    /// The number of connections that were opened.
    package var connectionCount = 0
    /// The number of connections that were reset because there were too many.
    package var refusedConnectionCount = 0
    /// The number of whole requests.
    package var requestCount = 0
    /// The number of requests that were accepted.
    package var acceptedCount = 0
    /// The number of requests that were not spooled again.
    package var repeatedCount = 0
    /// The requests that were refused, by their reasons.
    package var refusals: [String: Int] = [:]
    /// The number of requests that wait for their job.
    package var waitingCount = 0
    /// The times of the jobs' drops.
    package var dropTimes = Histogram.ofSyncs
    /// The number of violations of the protocol.
    package var violationCount = 0

    /// Creates the figures of a door that has done nothing.
    package init() {}

    /// Returns the metrics of doors in the Prometheus text format, version 0.0.4.
    ///
    /// - Parameters:
    ///   - doors: the doors, by name.
    ///   - version: the version of the process.
    ///   - lostLogLineCount: how many log lines the process has lost.
    /// - Returns: The text.
    package static func metrics(
        of doors: [(name: String, counts: DoorCounts)], version: String, lostLogLineCount: Int
    ) -> [UInt8] {
        var writer = MetricsWriter()
        writer.begin(DoorMetric.buildInfo.family)
        writer.add(1, ("version", version))
        writer.begin(DoorMetric.logLinesLost.family)
        writer.add(lostLogLineCount)
        for metric in DoorMetric.allCases where ![.buildInfo, .logLinesLost].contains(metric) {
            writer.begin(metric.family)
            for (name, counts) in doors { counts.write(metric, of: ("door", name), to: &writer) }
        }
        return writer.bytes
    }

    private func write(_ metric: DoorMetric, of door: MetricsWriter.Label, to writer: inout MetricsWriter) {
        switch metric {
        case .buildInfo, .logLinesLost: break
        case .connections: writer.add(openConnectionCount, door)
        case .connectionsOpened: writer.add(connectionCount, door)
        case .connectionsRefused: writer.add(refusedConnectionCount, door)
        case .requests: writer.add(requestCount, door)
        case .requestsAccepted: writer.add(acceptedCount, door)
        case .requestsRepeated: writer.add(repeatedCount, door)
        case .requestsRefused:
            for (reason, count) in refusals.sorted(by: { $0.key < $1.key }) {
                writer.add(count, door, ("reason", reason))
            }
        case .requestsWaiting: writer.add(waitingCount, door)
        case .jobs: writer.add(dropTimes.count, door)
        case .drop: writer.add(dropTimes, door)
        case .violations: writer.add(violationCount, door)
        }
    }
}
