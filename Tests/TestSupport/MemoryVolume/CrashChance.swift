/// Decides what survives a power loss: nothing, everything, all names without their bytes, the names that came without
/// the removal of those that went, the bytes of files that were synced before, or a part that depends on a seed.
enum CrashChance: Sendable {
    case nothing
    case everything
    case names
    case arrivals
    case additions
    case mixed(SeededGenerator)

    /// What holds for the bytes of files, when this holds for names.
    var ofBytes: Self {
        if case .names = self { .nothing } else { self }
    }

    var isMixed: Bool {
        if case .mixed = self { true } else { false }
    }

    /// How many of so many, from the first on.
    mutating func count(upTo limit: Int) -> Int {
        draw(0, limit) { Int.random(in: 0...limit, using: &$0) }
    }

    /// Whether one thing does.
    mutating func survives() -> Bool {
        draw(false, true) { Bool.random(using: &$0) }
    }

    /// Whether a step in a directory does.
    mutating func survives(_ step: MemoryDirectory.Step) -> Bool {
        if case .arrivals = self { step.added != nil } else { survives() }
    }

    private mutating func draw<Answer>(
        _ none: Answer, _ all: Answer, _ body: (inout SeededGenerator) -> Answer
    ) -> Answer {
        switch self {
        case .nothing: return none
        case .everything, .names, .arrivals, .additions: return all
        case .mixed(var generator):
            let answer = body(&generator)
            self = .mixed(generator)
            return answer
        }
    }
}
