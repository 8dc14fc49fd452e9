package import JobFormat
package import LinuxIO
package import PushModel

/// The number of jobs in a folder that other programs fill and empty. Recounts only after the folder has changed.
package struct FolderCount: Sendable {
    /// How long a folder must be unchanged when it is counted for the count to be kept. Modification times are coarse,
    /// so right after a change a further change may not show.
    private static let calm = Duration.seconds(2)

    /// Counting stops at this number, because listing a folder takes time.
    package let limit: Int
    private let isMeant: @Sendable ([UInt8]) -> Bool
    private let keepsNames: Bool
    private var counted: (count: Int, modifiedAt: Int64)?
    /// The first of the names counted last, in the order of their bytes.
    package private(set) var first: [UInt8]?
    /// The names counted last, if they are kept.
    package private(set) var names: Set<FileName> = []

    /// Creates a count without a result so far. Counts jobs, or the names that `isMeant` selects, and keeps them on request.
    package init(
        limit: Int = 10_000, keepingNames: Bool = false,
        of isMeant: @escaping @Sendable ([UInt8]) -> Bool = { FileName(bytes: $0)?.isJob == true }
    ) {
        (self.limit, self.isMeant, keepsNames) = (limit, isMeant, keepingNames)
    }

    /// Checks the folder, and counts if it may have changed. Blocks.
    ///
    /// - Parameters:
    ///   - folder: always the same folder.
    ///   - now: the time of day.
    /// - Returns: how many files that are meant are in it, at most `limit`.
    /// - Throws: `SystemError`: it cannot be read; the next call tries again.
    package mutating func look(at folder: Directory, now: WallTime) throws(SystemError) -> Int {
        let modifiedAt = try folder.status().modifiedAt
        if let counted, counted.modifiedAt == modifiedAt { return counted.count }
        var count = 0
        (first, names) = (nil, [])
        var listing = try folder.listing()
        while count < limit, let entry = try listing.next() {
            guard isMeant(entry.name) else { continue }
            count += 1
            if keepsNames, let name = FileName(bytes: entry.name) { names.insert(name) }
            if first.map({ entry.name.lexicographicallyPrecedes($0) }) ?? true { first = entry.name }
        }
        let isCalm = WallTime(nanoseconds: modifiedAt) + Self.calm <= now
        counted = isCalm ? (count: count, modifiedAt: modifiedAt) : nil
        return count
    }
}
