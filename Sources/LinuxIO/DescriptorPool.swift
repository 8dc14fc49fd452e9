import Synchronization

/// Divides the descriptors that a process may open among their users, so that no user exhausts another's.
///
/// The pool only counts; it opens nothing. Each share has a guaranteed part, which is always available to it. Beyond
/// that it borrows from the unguaranteed remainder. Thread-safe; never blocks.
package final class DescriptorPool: Sendable {
    private struct State {
        /// The sum of all guaranteed parts, used or not.
        var guaranteedCount = 0
        /// How many descriptors all shares together use beyond their guaranteed parts.
        var borrowedCount = 0
    }

    /// How many descriptors there are to divide.
    package let capacity: Int
    private let state = Mutex(State())

    /// Creates a pool without shares.
    ///
    /// - Parameter capacity: how many descriptors there are to divide; a negative value counts as 0.
    package init(capacity: Int) {
        self.capacity = max(0, capacity)
    }

    /// Whether new shares have made earlier loans exceed the capacity, so that not every guaranteed descriptor is free yet.
    package var isOverdrawn: Bool { state.withLock { $0.guaranteedCount + $0.borrowedCount > capacity } }

    /// Makes one share per guaranteed count, or none at all.
    ///
    /// - Returns: the shares in the same order; `nil` if the pool cannot guarantee that many.
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

/// One user's share of the descriptors: always the guaranteed part, and more while the pool has free ones.
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

    /// How many descriptors are in use now.
    package var usedCount: Int { used.withLock { $0 } }

    /// Whether a lease of one descriptor would leave `kept` more. Another thread may borrow them in between.
    ///
    /// - Parameter kept: how many must remain available for more urgent uses.
    /// - Returns: Whether a lease of one would succeed now.
    package func hasRoom(keeping kept: Int = 0) -> Bool {
        let own = used.withLock { max(0, guaranteedCount - $0) }
        return own + max(0, pool.freeCount) > kept
    }

    /// Leases descriptors, from the guaranteed part first.
    ///
    /// - Returns: the lease, to keep as long as they are open; `nil` if not enough are available.
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

/// Descriptors of a share that count as in use until this object is released.
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
