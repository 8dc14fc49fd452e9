import APNSModel
import SpoolModel

/// What an earlier daemon recorded of a job that is read once more: where to go on, and which lines may not be out.
struct Resumption {
    /// What was sent and has no outcome, and must not be sent again.
    let doubtful: IndexRuns
    /// Outcomes whose lines are told again.
    let untold: [JournalResult]
    /// How it ended, if it had.
    let final: JournalFinal?
    /// Whether those that were rejected were too scattered to be kept.
    var isAbridged = false

    /// The results whose lines are to be told of `indices`, each with its part of them.
    func untold(in indices: Range<Int>) -> [(result: JournalResult, range: Range<Int>)] {
        untold.flatMap { result in
            result.ranges.map { $0.clamped(to: indices) }.filter { !$0.isEmpty }.map { (result, $0) }
        }
    }
}
