package import LinuxIO

/// How much room a volume must have for new jobs to be claimed (`limits.free_space`).
package struct SpaceFloor: Hashable, Sendable {
    /// Free bytes; `nil`: 2 % of the volume, 64 MiB at least.
    package var byteCount: Int64?
    /// Files that can still be made, where the filesystem has such a limit.
    package var fileCount: Int64 = 1000

    /// A floor of so many bytes, or the usual one.
    package init(byteCount: Int64? = nil) {
        self.byteCount = byteCount
    }

    /// The floor in bytes for a volume of that size.
    package func byteCount(of space: FilesystemSpace) -> Int64 {
        byteCount ?? max(64 << 20, space.byteCount / 50)
    }
}

/// Says whether there is room to claim jobs on a volume; those that are claimed are finished in any case.
///
/// Once it is short, there must be a tenth more than the floor again, so that it does not change its mind with every file.
package struct SpaceWatch: Hashable, Sendable {
    /// What must stay free.
    package let floor: SpaceFloor
    /// Whether room was short at the last look.
    package private(set) var isShort = false

    /// A watch that has not looked yet.
    package init(floor: SpaceFloor) {
        self.floor = floor
    }

    /// Looks at the room there is now (`AppSpool.space()`).
    ///
    /// - Returns: whether jobs may be claimed.
    package mutating func mayClaim(with space: FilesystemSpace) -> Bool {
        let (bytes, files) = (floor.byteCount(of: space), floor.fileCount)
        let part: Int64 = isShort ? 10 : .max
        let hasBytes = space.freeByteCount - bytes / part >= bytes
        let hasFiles = space.freeFileCount.map { $0 - files / part >= files } ?? true
        isShort = !(hasBytes && hasFiles)
        return !isShort
    }
}
