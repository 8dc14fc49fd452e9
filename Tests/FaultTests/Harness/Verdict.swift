/// What must hold after every fault, once the daemon has come to rest.
enum Invariant: String, CaseIterable {
    /// Each job that was dropped is in one final place.
    case onePlace = "I1"
    /// Each recipient was accepted, or its end is told.
    case nobodyLost = "I2"
    /// No more was sent twice than one death may cost.
    case fewDoubled = "I3"
    /// What is in an archive is told completely.
    case toldFirst = "I4"
    /// Nothing is left over.
    case noRemains = "I5"
    /// The filesystem is sound.
    case soundVolume = "I6"
    /// Another start changes nothing.
    case atRest = "I7"
}

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
    /// The most of them that one connection's end cost.
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
