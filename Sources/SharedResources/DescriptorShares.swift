package import Configuration
package import LinuxIO
package import PushModel

/// Allots descriptors to each app at its first start, and keeps them for it until it is removed from the configuration.
package struct DescriptorShares {
    private let budget: DescriptorBudget
    private let pool: DescriptorPool
    private var shares: [String: AppDescriptors] = [:]
    /// The descriptors for the threads of filesystems other than the spool's, which are kept as long as the process
    /// runs.
    private var ofFilesystems: [DescriptorShare] = []

    /// Divides this budget.
    package init(_ budget: DescriptorBudget) {
        self.budget = budget
        pool = DescriptorPool(capacity: budget.capacity)
    }

    /// Checks that all descriptors guaranteed to the admitted apps are free for them.
    ///
    /// - Throws: `DescriptorDebt`: other apps had borrowed some of them before the last app was admitted. It can start
    ///   when they have returned them, which they do as they read on.
    package func requireSettled() throws(DescriptorDebt) {
        if pool.isOverdrawn { throw DescriptorDebt(limit: budget.limit) }
    }

    /// The admitted apps.
    var apps: [String] { Array(shares.keys) }

    /// Admits an app, unless it is admitted already.
    ///
    /// - Throws: `DescriptorShortage`: the limit is too low for another app. Apps admitted before keep their
    ///   descriptors.
    package mutating func admit(_ app: String) throws(DescriptorShortage) -> AppDescriptors {
        if let known = shares[app] { return known }
        guard let new = AppDescriptors(from: pool) else { throw shortage }
        shares[app] = new
        return new
    }

    /// Admits the threads of another filesystem.
    ///
    /// - Throws: `DescriptorShortage`: the limit is too low for them.
    package mutating func admitFilesystem() throws(DescriptorShortage) {
        guard let new = pool.makeShares(guaranteeing: [DescriptorBudget.ofFilesystem]) else { throw shortage }
        ofFilesystems += new
    }

    /// Removes an app that has ended, or never started, and will not start again.
    package mutating func release(_ app: String) {
        shares[app] = nil
    }

    private var shortage: DescriptorShortage {
        let needed = budget.needed(forApps: shares.count + 1) + ofFilesystems.count * DescriptorBudget.ofFilesystem
        return DescriptorShortage(limit: budget.limit, appCount: shares.count + 1, needed: needed)
    }
}

/// The descriptors of an app: the guaranteed ones, and beyond those any that other apps leave unused.
package struct AppDescriptors: Sendable {
    /// Descriptors for job files being read.
    package let jobFiles: DescriptorShare
    /// Descriptors for connections to the gateway, `DescriptorBudget.ofConnection` each.
    package let sockets: DescriptorShare
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
    package func mayRead(_ lane: Lane) -> Bool { jobFiles.hasRoom(keeping: lane == .urgent ? 0 : 1) }
}
