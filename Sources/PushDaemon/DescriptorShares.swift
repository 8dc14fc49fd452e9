import LinuxIO

/// Gives each app its descriptors when it first starts, and keeps them for it until it is gone from the configuration.
struct DescriptorShares {
    private let budget: DescriptorBudget
    private let pool: DescriptorPool
    private var shares: [String: AppDescriptors] = [:]
    /// What the threads of other filesystems than the spool's have: they stay as long as the process.
    private var ofFilesystems: [DescriptorShare] = []

    init(_ budget: DescriptorBudget) {
        self.budget = budget
        pool = DescriptorPool(capacity: budget.capacity)
    }

    /// Looks whether all that is guaranteed to the apps that were admitted is free for them.
    ///
    /// - Throws: `DescriptorDebt`: apps have borrowed some of it before another one was admitted. That one can start when they have
    ///   given it back, as they read on.
    func requireSettled() throws(DescriptorDebt) {
        if pool.isOverdrawn { throw DescriptorDebt(limit: budget.limit) }
    }

    /// The apps that were admitted.
    var apps: [String] { Array(shares.keys) }

    /// Admits an app, or finds it admitted.
    ///
    /// - Throws: `DescriptorShortage`: the limit does not carry another app. Those admitted before have what they need.
    mutating func admit(_ app: String) throws(DescriptorShortage) -> AppDescriptors {
        if let known = shares[app] { return known }
        guard let new = AppDescriptors(from: pool) else { throw shortage }
        shares[app] = new
        return new
    }

    /// Admits the threads of another filesystem.
    ///
    /// - Throws: `DescriptorShortage`: the limit does not carry them.
    mutating func admitFilesystem() throws(DescriptorShortage) {
        guard let new = pool.makeShares(guaranteeing: [DescriptorBudget.ofFilesystem]) else { throw shortage }
        ofFilesystems += new
    }

    /// Forgets an app that has ended, or never started, and does not come back.
    mutating func release(_ app: String) {
        shares[app] = nil
    }

    private var shortage: DescriptorShortage {
        let needed = budget.needed(forApps: shares.count + 1) + ofFilesystems.count * DescriptorBudget.ofFilesystem
        return DescriptorShortage(limit: budget.limit, appCount: shares.count + 1, needed: needed)
    }
}
