/// The daemon's metrics, by their names in monitoring (pushspool-metrics(5)).
package enum Metric: String, CaseIterable, Hashable, Sendable {
    // The daemon.
    /// The daemon's version; always 1.
    case buildInfo = "pushspool_build_info"
    /// When the daemon started, in seconds since 1970.
    case startTime = "pushspool_start_timestamp_seconds"
    /// When these metrics were written, in seconds since 1970.
    case writtenTime = "pushspool_written_timestamp_seconds"
    /// Whether the daemon is stopping and claims no more jobs (1), or not (0).
    case stopping = "pushspool_stopping"
    /// Free space on the volume of the spool and the journal.
    case spoolFree = "pushspool_spool_free_bytes"
    /// Size of the volume of the spool and the journal.
    case spoolSize = "pushspool_spool_size_bytes"
    /// The duration of journal syncs.
    case journalSync = "pushspool_journal_sync_duration_seconds"
    /// Bytes written to the journal.
    case journalWritten = "pushspool_journal_written_bytes_total"
    /// Log lines that were dropped or could not be written.
    case logLinesLost = "pushspool_log_lines_lost_total"
    /// Jobs of nodes that do not run, which wait.
    case leftJobs = "pushspool_left_jobs"
    // Its cluster.
    /// The nodes whose journal somebody has.
    case clusterNodes = "pushspool_cluster_nodes"
    /// The nodes that have died and whose jobs this daemon finishes.
    case clusterStandIns = "pushspool_cluster_stand_ins"
    /// Whether the node's lease is valid (1), or it sends and moves nothing (0).
    case clusterLease = "pushspool_cluster_lease_valid"
    // An app.
    /// What an app is doing: 1 for the state that it is in, 0 for the others.
    case appState = "pushspool_app_state"
    /// Free space on an app's volume, as last checked.
    case appFree = "pushspool_app_free_bytes"
    /// When an app's credentials expire, in seconds since 1970.
    case credentialExpiry = "pushspool_credential_expiry_timestamp_seconds"
    // Its jobs.
    /// Unfinished jobs, by folder.
    case queueJobs = "pushspool_queue_jobs"
    /// Files in `new/` that are ignored because their names are not job names.
    case filesIgnored = "pushspool_files_ignored"
    /// When the oldest job of a folder was dropped, in seconds since 1970.
    case queueOldest = "pushspool_queue_oldest_timestamp_seconds"
    /// Jobs that were claimed.
    case jobsClaimed = "pushspool_jobs_claimed_total"
    /// Jobs that were archived, by archive.
    case jobsFinished = "pushspool_jobs_finished_total"
    /// Jobs that failed, by result code.
    case jobFailures = "pushspool_job_failures_total"
    /// Jobs that the daemon itself held, by cause.
    case jobsHeld = "pushspool_jobs_held_total"
    /// Jobs whose producer replaced them before they were taken.
    case jobsOverwritten = "pushspool_jobs_overwritten_total"
    /// The time from a job's drop to its claim.
    case jobWait = "pushspool_job_wait_duration_seconds"
    /// The time from a job's claim until all its notifications had an outcome.
    case jobSend = "pushspool_job_send_duration_seconds"
    // Its feedback.
    /// Feedback files that wait for the hook, or for another consumer to remove them.
    case feedbackFiles = "pushspool_feedback_files"
    /// When the oldest of these files was published, in seconds since 1970.
    case feedbackOldest = "pushspool_feedback_oldest_timestamp_seconds"
    /// Runs of hooks, by their end.
    case hookRuns = "pushspool_hook_runs_total"
    /// Since when a hook has not taken the next file, in seconds since 1970.
    case hookFailing = "pushspool_hook_failing_timestamp_seconds"
    // Its notifications.
    /// Notifications, by outcome.
    case notifications = "pushspool_notifications_total"
    /// Notifications that were rejected or not sent, by reason.
    case notificationFailures = "pushspool_notification_failures_total"
    /// Notifications that were counted as accepted, and were not.
    case notificationsRevoked = "pushspool_notifications_revoked_total"
    /// Notifications resent after a lost connection that cannot have delivered them.
    case notificationsResent = "pushspool_notifications_resent_total"
    /// Notifications resent that may have been accepted before.
    case notificationsDoubtful = "pushspool_notifications_doubtful_total"
    /// Notifications written to a connection that have no outcome yet.
    case notificationsInFlight = "pushspool_notifications_in_flight"
    /// The time from writing a request to its response (HTTP/2).
    case answer = "pushspool_answer_duration_seconds"
    // Its connections.
    /// Established connections.
    case connections = "pushspool_connections"
    /// Connections established since the start.
    case connectionsOpened = "pushspool_connections_opened_total"
    /// Connections that failed, or could not be established.
    case connectionFailures = "pushspool_connection_failures_total"

    /// The type, determined by the name.
    package var kind: MetricFamily.Kind { family.kind }

    /// Its family.
    package var family: MetricFamily { MetricFamily(name: rawValue, help: help) }

    private var feedbackHelp: String {
        switch self {
        case .feedbackFiles: "Feedback files that wait for the hook, or for another consumer to remove them."
        case .feedbackOldest: "When the oldest feedback file that waits was published, in seconds since 1970."
        case .hookRuns: "Runs of the hook, by result."
        default: "Since when the hook has failed with the same file, in seconds since 1970."
        }
    }

    private var clusterHelp: String {
        switch self {
        case .clusterNodes: "Nodes of the cluster that run, this one included, and nodes that others stand in for."
        case .clusterStandIns: "Nodes that have died and whose jobs this daemon finishes."
        default: "Whether the node's lease is valid (1), or it sends and moves nothing (0)."
        }
    }

    /// The help text, one line.
    package var help: String {
        switch self {
        case .buildInfo: "The daemon's version; always 1."
        case .startTime: "When the daemon started, in seconds since 1970."
        case .writtenTime: "When these metrics were written, in seconds since 1970."
        case .stopping: "Whether the daemon is stopping and takes no more jobs (1), or not (0)."
        case .spoolFree: "Free space on the volume of the spool and the journal."
        case .spoolSize: "Size of the volume of the spool and the journal."
        case .journalSync: "Duration of syncs of the journal."
        case .journalWritten: "Bytes written to the journal."
        case .logLinesLost: "Log lines that were dropped because standard error was not read, or could not be written."
        case .leftJobs: "Jobs of a node that does not run, and that nobody finishes."
        case .clusterNodes, .clusterStandIns, .clusterLease: clusterHelp
        case .appState: "The state of an app: 1 for its current state, 0 for the others."
        case .appFree: "Free space on an app's volume when it was last checked."
        case .credentialExpiry: "When an app's credentials expire, in seconds since 1970."
        case .queueJobs: "Unfinished jobs, by folder."
        case .filesIgnored: "Files in new/ that are ignored because they do not have a job's name."
        case .queueOldest: "When the oldest job in a folder was dropped, in seconds since 1970."
        case .jobsClaimed: "Jobs that were claimed for sending."
        case .jobsFinished: "Jobs that were archived, by state."
        case .jobFailures: "Jobs that failed, by result code."
        case .jobsHeld: "Jobs that the daemon itself put on hold, by cause."
        case .jobsOverwritten: "Jobs that their producer replaced before they were claimed."
        case .jobWait: "Time from a job's drop to its claim."
        case .jobSend: "Time from a job's claim until all its notifications had an outcome."
        case .feedbackFiles, .feedbackOldest, .hookRuns, .hookFailing: feedbackHelp
        case .notifications: "Notifications, by outcome."
        case .notificationFailures: "Notifications that were rejected or not sent, by reason."
        case .notificationsRevoked: "Notifications that were counted as accepted but later turned out not to be."
        case .notificationsResent: "Notifications that were resent and cannot have been delivered before."
        case .notificationsDoubtful: "Notifications that were resent and may have been accepted before."
        case .notificationsInFlight: "Notifications that are written to a connection and have no outcome yet."
        case .answer: "Time from writing a request to its answer (HTTP/2)."
        case .connections: "Open connections."
        case .connectionsOpened: "Connections that were opened."
        case .connectionFailures: "Connections that failed or could not be opened."
        }
    }
}
