/// The regions in use, oldest first. They form a ring: the last one is being written, and the next ones after it are free.
struct JournalWindow: Sendable {
    struct Region: Hashable, Sendable {
        let epoch: UInt64
        let index: Int
        /// The number of live jobs whose header is in it.
        var liveCount = 0
    }

    let regionCount: Int
    private(set) var regions: [Region]
    /// The number of regions that can be begun.
    private(set) var freeCount = 0

    init(regions: [JournalRegionHead], regionCount: Int) {
        self.regionCount = regionCount
        self.regions = regions.map { Region(epoch: $0.epoch, index: $0.index) }
        countFree()
    }

    /// Whether the oldest region contains no live job's header and is not the one being written.
    var hasIdle: Bool { regions.count > 1 && regions[0].liveCount == 0 }

    /// Begins the next region.
    mutating func begin(epoch: UInt64, isFirstOfRun: Bool) -> JournalRegionHead {
        let index = next(after: regions.last?.index)
        regions.append(Region(epoch: epoch, index: index))
        countFree()
        return JournalRegionHead(epoch: epoch, index: index, isFirstOfRun: isFirstOfRun)
    }

    /// Adds to the number of live jobs whose header is in a region; `count` may be negative.
    mutating func add(_ count: Int, at epoch: UInt64) {
        guard let place = regions.lastIndex(where: { $0.epoch == epoch }) else { return }
        regions[place].liveCount += count
    }

    /// Releases the oldest region.
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
