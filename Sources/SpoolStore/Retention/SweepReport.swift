package import APNSModel
package import LinuxIO
package import SpoolModel

/// What a sweep has come to.
package struct SweepReport: Hashable, Sendable {
    /// Names in a folder that retention leaves alone.
    package struct Leftovers: Hashable, Sendable {
        /// The folder, below the app's.
        package let path: String
        /// One of them, escaped.
        package let example: String
        /// How many they are.
        package internal(set) var count = 0
    }

    /// How many jobs of each archive were deleted, with what stood beside them.
    package internal(set) var jobCounts: [ArchiveFolder: Int] = [:]
    /// How many names of jobs and results were left alone because their jobs came just now to where nothing is kept.
    package internal(set) var youngCount = 0
    /// How many feedback files were deleted.
    package internal(set) var feedbackCount = 0
    /// How many feedback files are going to be.
    package internal(set) var toldCount = 0
    /// The oldest of them, by its name.
    package internal(set) var oldestTold: FileName?
    /// The time of the newest of them.
    package internal(set) var toldThrough: WallTime?
    /// What is none of ours.
    package internal(set) var leftovers: [Leftovers] = []
    /// How often something went wrong.
    package internal(set) var failureCount = 0
    /// What went wrong first.
    package internal(set) var failure: SystemError?

    /// Creates the report of a sweep that has found nothing to do.
    package init() {}

    /// Whether anything was deleted.
    package var hasDeleted: Bool { feedbackCount > 0 || jobCounts.values.contains { $0 > 0 } }
}
