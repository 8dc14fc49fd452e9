package import APNSModel
package import Document

/// Which lines of feedback somebody wants: those that have one of the values asked for, of every member asked for.
package struct FeedbackFilter: Hashable, Sendable {
    /// Values of `kind`; none asks for all lines, here and below.
    package var kinds: [String] = []
    /// Values of `outcome`.
    package var outcomes: [String] = []
    /// Values of `verdict`.
    package var verdicts: [String] = []
    /// Values of `reason`.
    package var reasons: [String] = []
    /// Jobs, by what their lines name them.
    package var jobs = JobWishes([])
    /// The earliest time.
    package var since: WallTime?

    /// Asks for all lines.
    package init() {}

    /// Whether a line may be left out.
    package var isEmpty: Bool { self == FeedbackFilter() }

    /// Returns whether the line is wanted.
    ///
    /// - Parameters:
    ///   - line: The line.
    ///   - time: When its file was published, for lines that have no time of their own.
    /// - Returns: Whether it is wanted; a line without a member that is asked for is not.
    package func admits(_ line: Node, publishedAt time: WallTime?) -> Bool {
        let wishes = [("kind", kinds), ("outcome", outcomes), ("verdict", verdicts), ("reason", reasons)]
        for (key, values) in wishes where !values.isEmpty {
            guard let value = line[key], values.contains(where: value.isText) else { return false }
        }
        if let since, let time = line.feedbackTime ?? time, time < since { return false }
        return jobs.isEmpty || !jobs.positions(by: line, of: line["app"]?.string ?? "").isEmpty
    }
}

extension Node {
    /// When what a line of feedback tells came about; `nil` of one that does not say.
    package var feedbackTime: WallTime? {
        (self["at"] ?? self["finished_at"])?.string.flatMap { WallTime(rfc3339: $0) }
    }
}
