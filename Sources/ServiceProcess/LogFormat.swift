/// The format of log lines.
package enum LogFormat: String, CaseIterable, Sendable {
    /// A message followed by `key=value` pairs.
    case text
    /// One JSON object per line.
    case json
}

/// The lowest severity that is logged.
package enum LogLevel: String, CaseIterable, Sendable {
    /// Same as `debug`: there are no finer events.
    case trace
    /// Every connection.
    case debug
    /// Every start and stop.
    case info
    /// Every job.
    case notice
    /// Events that may need attention.
    case warning
    /// Events that need attention.
    case error
}
