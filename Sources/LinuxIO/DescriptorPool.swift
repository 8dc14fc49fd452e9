import Synchronization

/// Divides the descriptors that a process may open among those that need them, so that nobody uses up those of others.
///
/// It counts and opens nothing itself. A share has a guaranteed part, which it always gets, and borrows beyond it from what is
/// guaranteed to nobody. Any thread may use it; nothing blocks.
package final class DescriptorPool: Sendable {
    private struct State {
        /// How many are guaranteed to all shares together, used or not.
        var guaranteedCount = 0
        /// How many all shares use beyond that.
        var borrowedCount = 0
    }

    /// How many descriptors there are to divide.
    package let capacity: Int
    private let state = Mutex(State())

    /// Creates a pool of which nothing is given out.
    ///
    /// - Parameter capacity: how many descriptors there are to divide; below 0 counts as 0.
    package init(capacity: Int) {
        self.capacity = max(0, capacity)
    }

    /// How many are guaranteed to nobody, whether they are borrowed or not.
    package var unguaranteedCount: Int { state.withLock { capacity - $0.guaranteedCount } }

    /// Whether more is borrowed than may be since the last shares were made: what these are guaranteed is not all free yet.
    package var isOverdrawn: Bool { state.withLock { $0.guaranteedCount + $0.borrowedCount > capacity } }

    /// Makes a share for each of these guaranteed counts, or none at all.
    ///
    /// - Returns: the shares in this order; `nil` when the pool cannot guarantee so many.
    package func makeShares(guaranteeing counts: [Int]) -> [DescriptorShare]? {
        let total = counts.reduce(0, +)
        let isGiven = state.withLock { state in
            guard state.guaranteedCount + total <= capacity else { return false }
            state.guaranteedCount += total
            return true
        }
        return isGiven ? counts.map { DescriptorShare(of: self, guaranteeing: $0) } : nil
    }

    fileprivate var freeCount: Int { state.withLock { capacity - $0.guaranteedCount - $0.borrowedCount } }

    fileprivate func borrow(_ count: Int) -> Bool {
        guard count > 0 else { return true }
        return state.withLock { state in
            guard state.guaranteedCount + state.borrowedCount + count <= capacity else { return false }
            state.borrowedCount += count
            return true
        }
    }

    fileprivate func giveBack(_ count: Int) {
        state.withLock { $0.borrowedCount -= count }
    }

    fileprivate func endGuarantee(_ count: Int) {
        state.withLock { $0.guaranteedCount -= count }
    }
}

/// What one user of descriptors may open: the guaranteed part always, and more while others leave it.
package final class DescriptorShare: Sendable {
    private let pool: DescriptorPool
    private let guaranteedCount: Int
    private let used = Mutex(0)

    fileprivate init(of pool: DescriptorPool, guaranteeing count: Int) {
        (self.pool, guaranteedCount) = (pool, count)
    }

    deinit {
        pool.endGuarantee(guaranteedCount)
    }

    /// How many descriptors are used at present.
    package var usedCount: Int { used.withLock { $0 } }

    /// Whether there is room for one more and so many besides. Another thread may take what is borrowed in between.
    ///
    /// - Parameter kept: how many are to be left then, for what is more urgent.
    /// - Returns: Whether a lease of one could be had now.
    package func hasRoom(keeping kept: Int = 0) -> Bool {
        let own = used.withLock { max(0, guaranteedCount - $0) }
        return own + max(0, pool.freeCount) > kept
    }

    /// Takes descriptors, from the guaranteed part first.
    ///
    /// - Returns: the lease, to be kept as long as they are open; `nil` when there are not so many.
    package func lease(_ count: Int = 1) -> DescriptorLease? {
        let isTaken = used.withLock { used in
            guard pool.borrow(borrowed(used + count) - borrowed(used)) else { return false }
            used += count
            return true
        }
        return isTaken ? DescriptorLease(of: self, count) : nil
    }

    fileprivate func giveBack(_ count: Int) {
        used.withLock { used in
            pool.giveBack(borrowed(used) - borrowed(used - count))
            used -= count
        }
    }

    private func borrowed(_ used: Int) -> Int { max(0, used - guaranteedCount) }
}

/// Descriptors of a share that are in use until this is let go.
package final class DescriptorLease: Sendable {
    private let share: DescriptorShare
    private let count: Int

    fileprivate init(of share: DescriptorShare, _ count: Int) {
        (self.share, self.count) = (share, count)
    }

    deinit {
        share.giveBack(count)
    }
}
