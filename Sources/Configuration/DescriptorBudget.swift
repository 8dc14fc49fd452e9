/// The descriptors that the daemon needs for its configuration, and how they are divided.
///
/// The figures are upper bounds of the number open at a time, counted by hand from the code that opens them; decision
/// 0038 has the list.
package struct DescriptorBudget: Hashable, Sendable {
    /// The most threads for files on the spool's own filesystem. Each has a descriptor.
    package static let fileThreads = 4
    /// The daemon's own descriptors: spool, journal and state 9, reactor and threads 9 and the further threads for files,
    /// watches and signals 5, the control socket 2 with 17 connections, standard streams 3, libdispatch 3, and the
    /// reserve.
    static let ofDaemon = 48 + fileThreads - 1 + reserve
    /// Descriptors that are never allotted: for files open only briefly, and for libdispatch and the resolver.
    package static let reserve = 16
    /// Descriptors open before the daemon opens any: the standard streams and those of libdispatch.
    package static let ofEveryProcess = 6
    /// Descriptors of the metrics listener: its socket, its connections, and one waiting connection.
    static let ofMetrics = 10
    /// Descriptors for another filesystem: its two threads.
    package static let ofFilesystem = 2
    /// Descriptors for an app's folders.
    static let folders = 8
    /// Descriptors that an app opens for a while: listings, a day's folder, a hook's input and end, the feedback
    /// service, output files.
    static let passing = 8
    /// Job files that an app is guaranteed to be able to read at a time. It may read up to 256 while others leave it
    /// more.
    package static let jobFiles = 4
    /// Descriptors per connection: its socket, and epoll while it connects; before that, the resolver's.
    package static let ofConnection = 2
    /// Connections that an app is guaranteed: an active one, and one that only waits for its last answers.
    package static let connections = 2
    /// All descriptors guaranteed to an app.
    package static let ofApp = folders + passing + jobFiles + connections * ofConnection

    /// The most descriptors that the process may have open.
    package let limit: Int
    /// Whether the daemon listens for metrics requests.
    package var hasMetricsListener: Bool
    /// Descriptors that the parent process left open in this one.
    package var inheritedCount: Int

    /// Creates the budget of a process that may have this many descriptors open.
    package init(limit: Int, hasMetricsListener: Bool = false, inheritedCount: Int = 0) {
        (self.limit, self.hasMetricsListener, self.inheritedCount) = (limit, hasMetricsListener, inheritedCount)
    }

    /// The descriptors needed for this number of apps.
    package func needed(forApps count: Int) -> Int { ofProcess + count * Self.ofApp }

    /// The descriptors available for all apps together.
    package var capacity: Int { max(0, limit - ofProcess) }

    private var ofProcess: Int { Self.ofDaemon + inheritedCount + (hasMetricsListener ? Self.ofMetrics : 0) }

    /// Why this number of apps cannot be served; `nil` if it can.
    package func shortage(forApps count: Int) -> DescriptorShortage? {
        let needed = needed(forApps: count)
        return limit < needed ? DescriptorShortage(limit: limit, appCount: count, needed: needed) : nil
    }
}

/// A limit of open files that is too low.
package struct DescriptorShortage: Error, Hashable, CustomStringConvertible {
    /// The most descriptors that the process may have open.
    let limit: Int
    /// The number of apps.
    let appCount: Int
    /// The descriptors needed for them.
    let needed: Int

    /// Creates a shortage.
    package init(limit: Int, appCount: Int, needed: Int) {
        (self.limit, self.appCount, self.needed) = (limit, appCount, needed)
    }

    /// The error message with the figures.
    package var description: String {
        let apps = appCount == 0 ? "without an app" : appCount == 1 ? "with 1 app" : "with \(appCount) apps"
        return "the limit on open files (RLIMIT_NOFILE) is \(limit), but the daemon needs \(needed) \(apps)"
    }

    /// How to fix it.
    package static let hint =
        "set LimitNOFILE=65536 in the daemon's unit, or run ulimit -Hn 65536 before it starts; or configure fewer apps"
}

/// Descriptors guaranteed to an app that other apps had borrowed before and still use.
package struct DescriptorDebt: Error, Hashable, CustomStringConvertible {
    /// The most descriptors that the process may have open.
    let limit: Int

    /// Creates a debt.
    package init(limit: Int) { self.limit = limit }

    /// The error message, with only those figures that stay the same while the app waits.
    package var description: String {
        "the limit on open files (RLIMIT_NOFILE) is \(limit), and other apps use some of the \(DescriptorBudget.ofApp) "
            + "that this app needs; it starts when they close them"
    }
}
