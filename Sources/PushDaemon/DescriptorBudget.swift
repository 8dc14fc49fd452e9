import APNSModel
import LinuxIO

/// How many descriptors the daemon needs at least, by its configuration, and how they are divided.
///
/// The figures are upper bounds of what is open at a time, counted by hand from what opens descriptors; decision 0038 has the list.
struct DescriptorBudget: Hashable, Sendable {
    /// What the daemon has besides its apps: spool, journal and state 9, reactor and threads 9, watches and signals 5, the control
    /// socket 2 with 17 connections, standard streams 3, libdispatch 3, and the reserve.
    static let ofDaemon = 48 + reserve
    /// What is never given out: files that are open for a moment, and what libdispatch and the resolver open.
    static let reserve = 16
    /// What a process has open before the daemon opens anything: the standard streams and libdispatch's.
    static let ofEveryProcess = 6
    /// What the metrics' listener has: its socket, and its connections with one that waits.
    static let ofMetrics = 10
    /// What another filesystem has: its two threads.
    static let ofFilesystem = 2
    /// An app's folders.
    static let folders = 8
    /// What an app opens for a while: listings, a day's folder, a hook's input and end, the feedback service, what it writes.
    static let passing = 8
    /// Job files that an app can read at a time whatever others do; up to 256 while others leave it more.
    static let jobFiles = 4
    /// What each connection may have: its socket, and epoll while it connects; before that, the resolver's.
    static let ofConnection = 2
    /// Connections that an app can have whatever others do: one, and one that waits for its last answers beside it.
    static let connections = 2
    /// What every app is guaranteed.
    static let ofApp = folders + passing + jobFiles + connections * ofConnection

    /// How many descriptors the process may have open.
    let limit: Int
    /// Whether numbers are asked for over a listener.
    var hasMetricsListener = false
    /// What whoever started the process has left open in it.
    var inheritedCount = 0

    /// What is needed for so many apps.
    func needed(forApps count: Int) -> Int { ofProcess + count * Self.ofApp }

    /// What there is for apps together.
    var capacity: Int { max(0, limit - ofProcess) }

    private var ofProcess: Int { Self.ofDaemon + inheritedCount + (hasMetricsListener ? Self.ofMetrics : 0) }

    /// Why so many apps cannot be served; `nil` when they can.
    func shortage(forApps count: Int) -> DescriptorShortage? {
        let needed = needed(forApps: count)
        return limit < needed ? DescriptorShortage(limit: limit, appCount: count, needed: needed) : nil
    }
}

/// A limit of open files that is too low.
struct DescriptorShortage: Error, Hashable, CustomStringConvertible {
    /// How many descriptors the process may have open.
    let limit: Int
    /// For how many apps.
    let appCount: Int
    /// How many are needed for them.
    let needed: Int

    /// What is wrong, with the figures.
    var description: String {
        let apps = appCount == 0 ? "without an app" : appCount == 1 ? "with 1 app" : "with \(appCount) apps"
        return "a process may have \(limit) files open (RLIMIT_NOFILE), and the daemon needs \(needed) \(apps)"
    }

    /// What to do about it.
    static let hint =
        "LimitNOFILE=65536 in the unit of the daemon, or ulimit -Hn 65536 before it starts; or have fewer apps"
}

/// Descriptors that are guaranteed to an app and that others, which had borrowed them before, still use.
struct DescriptorDebt: Error, Hashable, CustomStringConvertible {
    /// How many descriptors the process may have open.
    let limit: Int

    /// What is wrong, with the figures that do not change meanwhile.
    var description: String {
        "a process may have \(limit) files open (RLIMIT_NOFILE), and other apps still use some of the \(DescriptorBudget.ofApp) "
            + "that this one needs; it starts when they have closed them"
    }
}

/// What an app may open, whatever others do; beyond that, what they leave.
package struct AppDescriptors: Sendable {
    /// Files of jobs that are being read.
    let jobFiles: DescriptorShare
    /// Connections to the gateway, `DescriptorBudget.ofConnection` each.
    let sockets: DescriptorShare
    /// The rest, which is not counted one by one.
    private let others: DescriptorShare

    /// Takes what an app is guaranteed.
    ///
    /// - Returns: `nil` when the pool cannot guarantee another app that much.
    init?(from pool: DescriptorPool) {
        let connections = DescriptorBudget.connections * DescriptorBudget.ofConnection
        let rest = DescriptorBudget.ofApp - DescriptorBudget.jobFiles - connections
        guard let shares = pool.makeShares(guaranteeing: [DescriptorBudget.jobFiles, connections, rest]) else {
            return nil
        }
        (jobFiles, sockets, others) = (shares[0], shares[1], shares[2])
    }

    /// Whether another job of the lane may be opened. The last descriptor is for urgent ones.
    func mayRead(_ lane: Lane) -> Bool { jobFiles.hasRoom(keeping: lane == .urgent ? 0 : 1) }
}
