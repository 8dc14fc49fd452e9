package import Document
package import PushModel

/// A filter for feedback lines: a line passes if it has one of the requested values for each requested member.
package struct FeedbackFilter: Hashable, Sendable {
    /// Values of `kind`; an empty list accepts every value, here and below.
    package var kinds: [String] = []
    /// Values of `outcome`.
    package var outcomes: [String] = []
    /// Values of `verdict`.
    package var verdicts: [String] = []
    /// Values of `reason`.
    package var reasons: [String] = []
    /// Jobs, as their lines name them.
    package var jobs = JobQueries([])
    /// The earliest time.
    package var since: WallTime?

    /// Creates a filter that passes all lines.
    package init() {}

    /// Whether the filter passes all lines.
    package var isEmpty: Bool { self == FeedbackFilter() }

    /// Returns whether the line passes.
    ///
    /// - Parameters:
    ///   - line: The line.
    ///   - time: When the line's file was published, for lines without a time of their own.
    /// - Returns: Whether the line passes; a line that lacks a requested member does not.
    package func admits(_ line: Node, publishedAt time: WallTime?) -> Bool {
        let conditions = [("kind", kinds), ("outcome", outcomes), ("verdict", verdicts), ("reason", reasons)]
        for (key, values) in conditions where !values.isEmpty {
            guard let value = line[key], values.contains(where: value.isText) else { return false }
        }
        if let since, let time = line.feedbackTime ?? time, time < since { return false }
        return jobs.isEmpty || !jobs.positions(by: line, of: line["app"]?.string ?? "").isEmpty
    }
}

extension Node {
    /// The time of the event that a feedback line reports; `nil` if the line has no time.
    package var feedbackTime: WallTime? {
        (self["at"] ?? self["finished_at"])?.string.flatMap { WallTime(rfc3339: $0) }
    }
}
