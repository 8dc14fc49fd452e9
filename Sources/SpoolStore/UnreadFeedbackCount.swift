package import JobFormat
package import LinuxIO
package import PushModel
package import SpoolModel

/// Counts the feedback files of an app that wait: for its hook if it has one, else for any consumer to remove them.
package struct UnreadFeedbackCount {
    private var files = FolderCount { FeedbackFileName.time(of: $0) != nil }
    private var last: FileName?
    /// How many files there are, at most `FolderCount`'s limit; `nil` if that is unknown.
    package private(set) var count: Int? = 0

    /// Creates a count without a result so far.
    package init() {}

    /// The files, unless there are none.
    package var status: SpoolStatus.UnreadFeedback? {
        guard let count, let oldest = files.first.flatMap(FeedbackFileName.time(of:)) else { return nil }
        return .init(count: count, oldest: oldest)
    }

    /// Counts the files if the folder has changed. Blocks.
    ///
    /// - Parameters:
    ///   - folder: The folder, always the same.
    ///   - last: The last file that the hook is done with; `nil` without a hook.
    ///   - now: The time of day.
    /// - Returns: Why the folder cannot be read, the first time.
    package mutating func look(at folder: FeedbackFolder, after last: FileName?, now: WallTime) -> SystemError? {
        if last != self.last {
            let (start, node) = (last?.bytes ?? [], folder.node)
            files = FolderCount { name in
                let time = last == nil ? FeedbackFileName.time(of: name) : FeedbackFolder.time(of: name, node: node)
                return time != nil && start.lexicographicallyPrecedes(name)
            }
            self.last = last
        }
        do throws(SystemError) {
            count = try folder.count(with: &files, at: now)
            return nil
        } catch {
            defer { count = nil }
            return count == nil ? nil : error
        }
    }
}
