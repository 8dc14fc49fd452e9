import TestSupport

/// The outcome of one trial: which invariants hold, and what broke the others, by job.
struct Verdict: CustomStringConvertible {
    /// What the trial was, with its seed.
    let title: String
    private(set) var problems: [Invariant: [String]] = [:]
    private(set) var unchecked: Set<Invariant> = [.soundVolume]
    /// Recipients that are lost.
    var lostCount = 0
    /// Acceptances that were one too many.
    var doubleCount = 0
    /// The most of them that one death, or the end of one connection, cost an app.
    var mostDoubles = 0
    /// How many that may be.
    var allowance = 0
    /// How many jobs and recipients there were.
    var jobCount = 0, recipientCount = 0

    init(_ title: String) {
        self.title = title
    }

    /// Whether all holds.
    var isGood: Bool { problems.isEmpty }

    /// Those that do not hold, with the first that is wrong.
    var broken: String {
        let first = Invariant.allCases.lazy.compactMap { problems[$0]?.first }.first ?? ""
        return Invariant.allCases.filter { problems[$0] != nil }.map(\.rawValue).joined(separator: " ") + ": " + first
    }

    /// Whether this one holds.
    func holds(_ invariant: Invariant) -> Bool { problems[invariant] == nil }

    mutating func note(_ invariant: Invariant, _ problem: String) {
        problems[invariant, default: []].append(problem)
    }

    /// Notes that an invariant was checked which not every trial can check.
    mutating func check(_ invariant: Invariant) {
        unchecked.remove(invariant)
    }

    var description: String {
        let marks = Invariant.allCases.map { invariant in
            guard let list = problems[invariant] else {
                return "\(invariant.rawValue) \(unchecked.contains(invariant) ? "-" : "ok")"
            }
            return "\(invariant.rawValue) BROKEN (\(list.count))"
        }
        let details = Invariant.allCases.flatMap { invariant in
            (problems[invariant] ?? []).prefix(8).map { "\n  \(invariant.rawValue): \($0)" }
        }
        return """
            \(title): \(jobCount) jobs, \(recipientCount) recipients; lost \(lostCount), doubled \(doubleCount), \
            most in one death \(mostDoubles) of \(allowance); \(marks.joined(separator: " "))\(details.joined())
            """
    }
}
