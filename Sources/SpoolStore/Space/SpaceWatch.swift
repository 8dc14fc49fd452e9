package import LinuxIO

/// The free space that a volume must have before new jobs are claimed (`limits.free_space`).
package struct SpaceFloor: Hashable, Sendable {
    /// Free bytes; `nil` means 2 % of the volume, at least 64 MiB.
    package var byteCount: Int64?
    /// Files that can still be created, where the filesystem has such a limit.
    package var fileCount: Int64 = 1000

    /// Creates a floor of `byteCount` bytes, or the default one.
    package init(byteCount: Int64? = nil) {
        self.byteCount = byteCount
    }

    /// Returns the floor in bytes for a volume of this size.
    package func byteCount(of space: FilesystemSpace) -> Int64 {
        byteCount ?? max(64 << 20, space.byteCount / 50)
    }
}

/// Decides whether a volume has space for claiming jobs. Jobs already claimed are finished in any case.
///
/// Once space is short, a tenth more than the floor must be free before claims resume, so that the decision does not
/// flip with every file.
package struct SpaceWatch: Hashable, Sendable {
    /// The free space required.
    package let floor: SpaceFloor
    /// Whether space was short at the last check.
    package private(set) var isShort = false

    /// Creates a watch that has not checked yet.
    package init(floor: SpaceFloor) {
        self.floor = floor
    }

    /// Says how much space there is and how much must be free, for a volume that is short of it.
    package func words(about space: FilesystemSpace) -> String {
        let bytes = floor.byteCount(of: space)
        guard let files = space.freeFileCount, space.freeByteCount - bytes / 10 >= bytes else {
            return "\(space.freeByteCount >> 20) MiB free, and limits.free_space keeps \(bytes >> 20) MiB"
        }
        return "room for \(files) more files, and \(floor.fileCount) must remain"
    }

    /// Checks the current free space (`AppSpool.space()`).
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
