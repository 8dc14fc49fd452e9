/// The daemon's metrics, by their names in monitoring (pushspool-metrics(5)).
package enum Metric: MetricFamily, CaseIterable, Hashable, Sendable {
    // The daemon.
    case buildInfo = "pushspool_build_info: The daemon's version; always 1."
    case startTime = "pushspool_start_timestamp_seconds: When the daemon started, in seconds since 1970."
    case writtenTime = "pushspool_written_timestamp_seconds: When these metrics were written, in seconds since 1970."
    case stopping = "pushspool_stopping: Whether the daemon is stopping and takes no more jobs (1), or not (0)."
    case spoolFree = "pushspool_spool_free_bytes: Free space on the volume of the spool and the journal."
    case spoolSize = "pushspool_spool_size_bytes: Size of the volume of the spool and the journal."
    case journalSync = "pushspool_journal_sync_duration_seconds: Duration of syncs of the journal."
    case journalWritten = "pushspool_journal_written_bytes_total: Bytes written to the journal."
    case logLinesLost = """
        pushspool_log_lines_lost_total: Log lines that were dropped because standard error was not read, or could \
        not be written.
        """
    case leftJobs = "pushspool_left_jobs: Jobs of a node that does not run, and that nobody finishes."
    // Its cluster.
    case clusterNodes = """
        pushspool_cluster_nodes: Nodes of the cluster that run, this one included, and nodes that others stand in \
        for.
        """
    case clusterStandIns = "pushspool_cluster_stand_ins: Nodes that have died and whose jobs this daemon finishes."
    case clusterLease = """
        pushspool_cluster_lease_valid: Whether the node's lease is valid (1), or it sends and moves nothing (0).
        """
    // An app.
    case appState = "pushspool_app_state: The state of an app: 1 for its current state, 0 for the others."
    case appFree = "pushspool_app_free_bytes: Free space on an app's volume when it was last checked."
    case quotaHoldEnd = """
        pushspool_quota_hold_end_timestamp_seconds: When an app whose project's quota is used up sends again, in seconds \
        since 1970.
        """
    case credentialExpiry = """
        pushspool_credential_expiry_timestamp_seconds: When an app's credentials expire, in seconds since 1970.
        """
    // Its jobs.
    case queueJobs = "pushspool_queue_jobs: Unfinished jobs, by folder."
    case filesIgnored = "pushspool_files_ignored: Files in new/ that are ignored because they do not have a job's name."
    case queueOldest = """
        pushspool_queue_oldest_timestamp_seconds: When the oldest job in a folder was dropped, in seconds since \
        1970.
        """
    case jobsClaimed = "pushspool_jobs_claimed_total: Jobs that were claimed for sending."
    case jobsFinished = "pushspool_jobs_finished_total: Jobs that were archived, by state."
    case jobFailures = "pushspool_job_failures_total: Jobs that failed, by result code."
    case jobsHeld = "pushspool_jobs_held_total: Jobs that the daemon itself put on hold, by cause."
    case jobsOverwritten = """
        pushspool_jobs_overwritten_total: Jobs that their producer replaced before they were claimed.
        """
    case jobWait = "pushspool_job_wait_duration_seconds: Time from a job's drop to its claim."
    case jobSend = """
        pushspool_job_send_duration_seconds: Time from a job's claim until all its notifications had an outcome.
        """
    // Its feedback.
    case feedbackFiles = """
        pushspool_feedback_files: Feedback files that wait for the hook, or for another consumer to remove them.
        """
    case feedbackOldest = """
        pushspool_feedback_oldest_timestamp_seconds: When the oldest feedback file that waits was published, in \
        seconds since 1970.
        """
    case hookRuns = "pushspool_hook_runs_total: Runs of the hook, by result."
    case hookFailing = """
        pushspool_hook_failing_timestamp_seconds: Since when the hook has failed with the same file, in seconds \
        since 1970.
        """
    // Its notifications.
    case notifications = "pushspool_notifications_total: Notifications, by outcome."
    case lastAccepted = """
        pushspool_last_accepted_timestamp_seconds: When the gateway last accepted a notification, in seconds since 1970.
        """
    case notificationFailures = """
        pushspool_notification_failures_total: Notifications that were rejected or not sent, by reason.
        """
    case notificationsRevoked = """
        pushspool_notifications_revoked_total: Notifications that were counted as accepted but later turned out not \
        to be.
        """
    case notificationsResent = """
        pushspool_notifications_resent_total: Notifications that were resent and cannot have been delivered before.
        """
    case notificationsDoubtful = """
        pushspool_notifications_doubtful_total: Notifications that were resent and may have been accepted before.
        """
    case notificationsInFlight = """
        pushspool_notifications_in_flight: Notifications that are written to a connection and have no outcome yet.
        """
    case answer = "pushspool_answer_duration_seconds: Time from writing a request to its answer (HTTP/2)."
    // Its connections.
    case connections = "pushspool_connections: Open connections."
    case connectionsOpened = "pushspool_connections_opened_total: Connections that were opened."
    case connectionFailures = "pushspool_connection_failures_total: Connections that failed or could not be opened."

    /// Its name, type and help text.
    package var family: MetricFamily { rawValue }
}
