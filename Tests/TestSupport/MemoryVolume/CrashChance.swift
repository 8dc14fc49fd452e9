/// Decides what survives a power loss: nothing, everything, all names without their bytes, or a part that depends on a
/// seed.
enum CrashChance: Sendable {
    case nothing
    case everything
    case names
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

    private mutating func draw<Answer>(
        _ none: Answer, _ all: Answer, _ body: (inout SeededGenerator) -> Answer
    ) -> Answer {
        switch self {
        case .nothing: return none
        case .everything, .names: return all
        case .mixed(var generator):
            let answer = body(&generator)
            self = .mixed(generator)
            return answer
        }
    }
}
