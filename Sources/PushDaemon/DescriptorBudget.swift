import APNSModel
import LinuxIO

/// The descriptors that the daemon needs for its configuration, and how they are divided.
///
/// The figures are upper bounds of the number open at a time, counted by hand from the code that opens them; decision
/// 0038 has the list.
struct DescriptorBudget: Hashable, Sendable {
    /// The daemon's own descriptors: spool, journal and state 9, reactor and threads 9, watches and signals 5, the
    /// control socket 2 with 17 connections, standard streams 3, libdispatch 3, and the reserve.
    static let ofDaemon = 48 + reserve
    /// Descriptors that are never allotted: for files open only briefly, and for libdispatch and the resolver.
    static let reserve = 16
    /// Descriptors open before the daemon opens any: the standard streams and those of libdispatch.
    static let ofEveryProcess = 6
    /// Descriptors of the metrics listener: its socket, its connections, and one waiting connection.
    static let ofMetrics = 10
    /// Descriptors for another filesystem: its two threads.
    static let ofFilesystem = 2
    /// Descriptors for an app's folders.
    static let folders = 8
    /// Descriptors that an app opens for a while: listings, a day's folder, a hook's input and end, the feedback
    /// service, output files.
    static let passing = 8
    /// Job files that an app is guaranteed to be able to read at a time. It may read up to 256 while others leave it
    /// more.
    static let jobFiles = 4
    /// Descriptors per connection: its socket, and epoll while it connects; before that, the resolver's.
    static let ofConnection = 2
    /// Connections that an app is guaranteed: an active one, and one that only waits for its last answers.
    static let connections = 2
    /// All descriptors guaranteed to an app.
    static let ofApp = folders + passing + jobFiles + connections * ofConnection

    /// The most descriptors that the process may have open.
    let limit: Int
    /// Whether the daemon listens for metrics requests.
    var hasMetricsListener = false
    /// Descriptors that the parent process left open in this one.
    var inheritedCount = 0

    /// The descriptors needed for this number of apps.
    func needed(forApps count: Int) -> Int { ofProcess + count * Self.ofApp }

    /// The descriptors available for all apps together.
    var capacity: Int { max(0, limit - ofProcess) }

    private var ofProcess: Int { Self.ofDaemon + inheritedCount + (hasMetricsListener ? Self.ofMetrics : 0) }

    /// Why this number of apps cannot be served; `nil` if it can.
    func shortage(forApps count: Int) -> DescriptorShortage? {
        let needed = needed(forApps: count)
        return limit < needed ? DescriptorShortage(limit: limit, appCount: count, needed: needed) : nil
    }
}

/// A limit of open files that is too low.
struct DescriptorShortage: Error, Hashable, CustomStringConvertible {
    /// The most descriptors that the process may have open.
    let limit: Int
    /// The number of apps.
    let appCount: Int
    /// The descriptors needed for them.
    let needed: Int

    /// The error message with the figures.
    var description: String {
        let apps = appCount == 0 ? "without an app" : appCount == 1 ? "with 1 app" : "with \(appCount) apps"
        return "the limit on open files (RLIMIT_NOFILE) is \(limit), but the daemon needs \(needed) \(apps)"
    }

    /// How to fix it.
    static let hint =
        "set LimitNOFILE=65536 in the daemon's unit, or run ulimit -Hn 65536 before it starts; or configure fewer apps"
}

/// Descriptors guaranteed to an app that other apps had borrowed before and still use.
struct DescriptorDebt: Error, Hashable, CustomStringConvertible {
    /// The most descriptors that the process may have open.
    let limit: Int

    /// The error message, with only those figures that stay the same while the app waits.
    var description: String {
        "the limit on open files (RLIMIT_NOFILE) is \(limit), and other apps use some of the \(DescriptorBudget.ofApp) "
            + "that this app needs; it starts when they close them"
    }
}

/// The descriptors of an app: the guaranteed ones, and beyond those any that other apps leave unused.
package struct AppDescriptors: Sendable {
    /// Descriptors for job files being read.
    let jobFiles: DescriptorShare
    /// Descriptors for connections to the gateway, `DescriptorBudget.ofConnection` each.
    let sockets: DescriptorShare
    /// All other descriptors, which are not counted individually.
    private let others: DescriptorShare

    /// Takes an app's guaranteed descriptors from the pool.
    ///
    /// - Returns: `nil` if the pool cannot guarantee them to another app.
    init?(from pool: DescriptorPool) {
        let connections = DescriptorBudget.connections * DescriptorBudget.ofConnection
        let rest = DescriptorBudget.ofApp - DescriptorBudget.jobFiles - connections
        guard let shares = pool.makeShares(guaranteeing: [DescriptorBudget.jobFiles, connections, rest]) else {
            return nil
        }
        (jobFiles, sockets, others) = (shares[0], shares[1], shares[2])
    }

    /// Whether another job of the lane may be opened. The last descriptor is reserved for urgent jobs.
    func mayRead(_ lane: Lane) -> Bool { jobFiles.hasRoom(keeping: lane == .urgent ? 0 : 1) }
}
