import LinuxIO
import TestSupport
import Testing

struct DescriptorPoolTests {
    @Test(.catalogue("J74 few-descriptors, shares", checks: [], dice: .fixed))
    func `whatever others take, a share always gets what it is guaranteed`() throws {
        for seed in UInt64(0)..<200 {
            var course = try Course(seed: seed)
            for _ in 0..<300 { course.step() }
            for (share, guaranteed) in zip(course.shares, course.guaranteed) where share.usedCount < guaranteed {
                let lease = share.lease(guaranteed - share.usedCount)
                #expect(lease != nil, "seed \(seed)")
                course.keep(lease)
            }
        }
    }

    @Test func `no more is ever in use than there is, with what is guaranteed and not used`() throws {
        for seed in UInt64(0)..<200 {
            var course = try Course(seed: seed)
            for _ in 0..<300 {
                course.step()
                #expect(course.claimedCount <= course.pool.capacity, "seed \(seed)")
            }
        }
    }

    @Test func `what is let go can be taken again, all of it`() throws {
        var course = try Course(seed: 7)
        for _ in 0..<300 { course.step() }
        course.letAllGo()
        let rest = course.pool.capacity - course.guaranteed.reduce(0, +)
        #expect(course.shares[0].lease(course.guaranteed[0] + rest) != nil)
    }

    @Test func `a lease is given whole or not at all`() throws {
        let pool = DescriptorPool(capacity: 5)
        let share = try #require(pool.makeShares(guaranteeing: [2])?.first)
        #expect(share.lease(6) == nil && share.usedCount == 0)
        #expect(share.lease(5) != nil)
    }

    @Test(arguments: [
        (0, 0, true), (2, 0, true), (2, 2, true), (4, 1, true), (4, 2, false), (5, 0, true), (6, 0, false),
    ])
    func `room is what is guaranteed and what nobody has`(used: Int, kept: Int, isRoom: Bool) throws {
        let pool = DescriptorPool(capacity: 6)
        let share = try #require(pool.makeShares(guaranteeing: [3])?.first)
        let lease = used == 0 ? nil : share.lease(used)
        withExtendedLifetime(lease) { #expect(share.hasRoom(keeping: kept) == isRoom) }
    }

    @Test func `shares are made together or not at all, and go with those who have them`() throws {
        let pool = DescriptorPool(capacity: 10)
        var shares = pool.makeShares(guaranteeing: [4, 4])
        #expect(shares != nil && pool.makeShares(guaranteeing: [1, 2]) == nil)
        #expect(pool.makeShares(guaranteeing: [1, 1]) != nil)
        shares = nil
        #expect(pool.makeShares(guaranteeing: [11]) == nil && pool.makeShares(guaranteeing: [10]) != nil)
    }

    @Test func `a new share is guaranteed what others have borrowed, and they borrow no more until it is back`() throws
    {
        let pool = DescriptorPool(capacity: 10)
        let first = try #require(pool.makeShares(guaranteeing: [2])?.first)
        var lease = first.lease(9)
        let second = try #require(pool.makeShares(guaranteeing: [4])?.first)
        #expect(pool.isOverdrawn && !first.hasRoom() && second.lease(4) != nil)
        withExtendedLifetime(lease) {}
        lease = nil
        #expect(!pool.isOverdrawn && first.hasRoom())
    }
}

/// Shares that take and let go at random.
private struct Course {
    let pool: DescriptorPool
    let shares: [DescriptorShare]
    let guaranteed: [Int]
    private var leases: [DescriptorLease] = []
    private var random: SeededGenerator

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        var counts: [Int] = []
        for _ in 0..<Int.random(in: 1...8, using: &random) { counts.append(Int.random(in: 0...6, using: &random)) }
        guaranteed = counts
        pool = DescriptorPool(capacity: counts.reduce(0, +) + Int.random(in: 0...40, using: &random))
        shares = try #require(pool.makeShares(guaranteeing: counts))
    }

    /// What is used, and what must still be had by those that use less than they are guaranteed.
    var claimedCount: Int { zip(shares, guaranteed).reduce(0) { $0 + max($1.0.usedCount, $1.1) } }

    mutating func step() {
        if Bool.random(using: &random), !leases.isEmpty {
            leases.remove(at: Int.random(in: leases.indices, using: &random))
        } else {
            let share = shares[Int.random(in: shares.indices, using: &random)]
            keep(share.lease(Int.random(in: 1...4, using: &random)))
        }
    }

    mutating func keep(_ lease: DescriptorLease?) {
        if let lease { leases.append(lease) }
    }

    mutating func letAllGo() {
        leases = []
    }
}
