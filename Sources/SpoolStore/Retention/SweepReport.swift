package import JobFormat
package import LinuxIO
package import PushModel

/// The results of a sweep.
package struct SweepReport: Hashable, Sendable {
    /// Foreign names in a folder, which retention leaves alone.
    package struct Leftovers: Hashable, Sendable {
        /// The folder, relative to the app's.
        package let path: String
        /// One of the names, escaped.
        package let example: String
        /// How many names there are.
        package internal(set) var count = 0
    }

    /// How many jobs of each archive were deleted, together with their results.
    package internal(set) var jobCounts: [ArchiveFolder: Int] = [:]
    /// How many job and result names were kept because their jobs had just arrived in an archive that keeps nothing.
    package internal(set) var youngCount = 0
    /// How many feedback files were deleted.
    package internal(set) var feedbackCount = 0
    /// How many feedback files are due for deletion by a later sweep.
    package internal(set) var toldCount = 0
    /// The name of the oldest of them.
    package internal(set) var oldestTold: FileName?
    /// The time of the newest of them.
    package internal(set) var toldThrough: WallTime?
    /// Foreign names.
    package internal(set) var leftovers: [Leftovers] = []
    /// How many operations failed.
    package internal(set) var failureCount = 0
    /// The first failure.
    package internal(set) var failure: SystemError?

    /// Creates an empty report.
    package init() {}

    /// Whether anything was deleted.
    package var hasDeleted: Bool { feedbackCount > 0 || jobCounts.values.contains { $0 > 0 } }
}
