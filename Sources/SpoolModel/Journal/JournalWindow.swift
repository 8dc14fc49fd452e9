/// The regions in use, oldest first: a ring, of which the last is written and the next after it are free.
struct JournalWindow: Sendable {
    struct Region: Hashable, Sendable {
        let epoch: UInt64
        let index: Int
        /// How many live jobs begin in it.
        var liveCount = 0
    }

    let regionCount: Int
    private(set) var regions: [Region]
    /// How many regions can be begun.
    private(set) var freeCount = 0

    init(regions: [JournalRegionHead], regionCount: Int) {
        self.regionCount = regionCount
        self.regions = regions.map { Region(epoch: $0.epoch, index: $0.index) }
        countFree()
    }

    /// Whether no live job begins in the oldest region, and it is not the one that is written.
    var hasIdle: Bool { regions.count > 1 && regions[0].liveCount == 0 }

    /// Takes the next region into use.
    mutating func begin(epoch: UInt64, isFirstOfRun: Bool) -> JournalRegionHead {
        let index = next(after: regions.last?.index)
        regions.append(Region(epoch: epoch, index: index))
        countFree()
        return JournalRegionHead(epoch: epoch, index: index, isFirstOfRun: isFirstOfRun)
    }

    /// Counts live jobs that begin in a region, or do so no longer.
    mutating func add(_ count: Int, at epoch: UInt64) {
        guard let place = regions.lastIndex(where: { $0.epoch == epoch }) else { return }
        regions[place].liveCount += count
    }

    /// Lets the oldest region go.
    mutating func dropOldest() {
        regions.removeFirst()
        countFree()
    }

    private func next(after index: Int?) -> Int {
        index.map { ($0 + 1) % max(1, regionCount) } ?? 0
    }

    private mutating func countFree() {
        var (index, count) = (next(after: regions.last?.index), 0)
        while count < regionCount, !regions.contains(where: { $0.index == index }) {
            (index, count) = (next(after: index), count + 1)
        }
        freeCount = count
    }
}
