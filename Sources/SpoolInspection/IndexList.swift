import Document
import JournalModel

/// The notifications of a job with a given outcome, as text for people and as JSON; of a long list, the first runs.
struct IndexList: Hashable, Sendable {
    /// The outcome, or `left` for notifications without one.
    let word: String
    /// The first runs, with first and last index included.
    let runs: [ClosedRange<Int>]
    /// The number of all runs.
    let runCount: Int

    private static let keptCount = 1000
    private static let shownCount = 8

    /// Takes the indices of a set.
    init(_ word: String, _ indices: IndexRuns) {
        let runs = indices.runs.prefix(Self.keptCount).map { $0.lowerBound...($0.upperBound - 1) }
        (self.word, self.runs, runCount) = (word, runs, indices.runs.count)
    }

    /// Takes a member of `indexes` in a result file.
    init(_ member: Member) {
        let all = member.value.elements.prefix(Self.keptCount).compactMap { element -> ClosedRange<Int>? in
            let bounds = element.elements.compactMap(\.integer)
            guard bounds.count == 2, bounds[0] <= bounds[1] else { return nil }
            return bounds[0]...bounds[1]
        }
        (word, runs, runCount) = (member.key.text, all, member.value.count)
    }

    /// The list as text: `[0, 4-9, 12, … 97 runs]`.
    var text: String {
        let shown = runs.prefix(Self.shownCount).map { run in
            run.lowerBound == run.upperBound ? "\(run.lowerBound)" : "\(run.lowerBound)-\(run.upperBound)"
        }
        let rest = runCount > shown.count ? ", … \(runCount) runs" : ""
        return "[" + shown.joined(separator: ", ") + rest + "]"
    }
}
