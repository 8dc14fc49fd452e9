package import APNSModel
package import LinuxIO
import SpoolModel

/// How many jobs lie in a folder that others fill and empty, counted again only when the folder has changed.
package struct FolderCount: Sendable {
    /// Beyond so many nothing is counted: to list a folder takes time.
    package static let limit = 10_000

    /// How long a folder must have been unchanged when it is counted. Times of change are coarse: of one that changed just
    /// before, another change may not show.
    private static let calm = Duration.seconds(2)

    private var counted: (count: Int, modifiedAt: Int64)?

    /// Nothing was counted yet.
    package init() {}

    /// Looks at the folder, and counts if it may have changed. Blocks.
    ///
    /// - Parameters:
    ///   - folder: always the same.
    ///   - now: the time of day.
    /// - Returns: how many jobs are in it, at most `limit`.
    /// - Throws: `SystemError`: it cannot be read; the next look tries again.
    package mutating func look(at folder: Directory, now: WallTime) throws(SystemError) -> Int {
        let modifiedAt = try folder.status().modifiedAt
        if let counted, counted.modifiedAt == modifiedAt { return counted.count }
        var count = 0
        var listing = try folder.listing()
        while count < Self.limit, let entry = try listing.next() {
            if FileName(bytes: entry.name)?.isJob == true { count += 1 }
        }
        let isCalm = WallTime(nanoseconds: modifiedAt) + Self.calm <= now
        counted = isCalm ? (count: count, modifiedAt: modifiedAt) : nil
        return count
    }
}
