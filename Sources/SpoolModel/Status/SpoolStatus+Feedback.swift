import Document
package import PushModel

extension SpoolStatus {
    /// What keeps an app's hook from taking the next feedback file. Later files wait for it.
    package struct HookTrouble: Hashable, Sendable {
        /// Since when the hook has not taken it.
        package let since: WallTime
        /// How often the hook has failed since then; 0 if it could not be run.
        package let failureCount: Int
        /// The last failure.
        package let error: String

        /// Creates a description.
        package init(since: WallTime, failureCount: Int, error: String) {
            (self.since, self.failureCount, self.error) = (since, failureCount, error)
        }
    }

    /// The feedback files of an app that wait: for its hook if it has one, else for any consumer to remove them.
    package struct UnreadFeedback: Hashable, Sendable {
        /// How many there are, counted up to a limit.
        package let count: Int
        /// When the oldest of them was published.
        package let oldest: WallTime

        /// Creates a description.
        package init(count: Int, oldest: WallTime) {
            (self.count, self.oldest) = (count, oldest)
        }
    }
}

extension SpoolStatus.HookTrouble {
    /// Reads the member of a status; `nil` if it is malformed.
    init?(_ node: Node) {
        guard let since = node["since"]?.string.flatMap({ WallTime(rfc3339: $0) }),
            let count = node["failures"]?.integer, let error = node["error"]?.string
        else { return nil }
        self.init(since: since, failureCount: count, error: error)
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("since", since.rfc3339)
        writer.member("failures", failureCount)
        writer.member("error", error)
        writer.endObject()
    }
}

extension SpoolStatus.UnreadFeedback {
    /// Reads the member of a status; `nil` if it is malformed.
    init?(_ node: Node) {
        guard let count = node["files"]?.integer,
            let oldest = node["oldest"]?.string.flatMap({ WallTime(rfc3339: $0) })
        else { return nil }
        self.init(count: count, oldest: oldest)
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("files", count)
        writer.member("oldest", oldest.rfc3339)
        writer.endObject()
    }
}
