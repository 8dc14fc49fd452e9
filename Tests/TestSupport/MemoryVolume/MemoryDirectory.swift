/// A directory's names as a program sees them, as they are safe, and the steps between.
struct MemoryDirectory: Sendable {
    /// One step that is done whole or not at all.
    struct Step: Sendable {
        /// The name that goes, and what it stood for.
        var removed: (name: [UInt8], node: Int)?
        /// The name that comes, and what it stands for.
        var added: (name: [UInt8], node: Int)?
        /// The rename between two directories that this is one half of.
        var move: Int?

        /// Does the step, as far as what it removes is there.
        func apply(to names: inout [[UInt8]: Int]) {
            if let removed, names[removed.name] == removed.node { names[removed.name] = nil }
            if let added { names[added.name] = added.node }
        }
    }

    private(set) var now: [[UInt8]: Int] = [:]
    private(set) var safe: [[UInt8]: Int] = [:]
    private(set) var steps: [Step] = []

    /// The renames that came here and are not safe.
    var arrivals: Set<Int> { Set(steps.filter { $0.added != nil }.compactMap(\.move)) }

    /// The renames away from here that are not safe.
    var departures: Set<Int> { Set(steps.filter { $0.removed != nil }.compactMap(\.move)) }

    mutating func add(_ name: [UInt8], _ node: Int, move: Int? = nil) {
        apply(Step(added: (name, node), move: move))
    }

    mutating func remove(_ name: [UInt8], _ node: Int, move: Int? = nil) {
        apply(Step(removed: (name, node), move: move))
    }

    mutating func rename(_ name: [UInt8], _ node: Int, to newName: [UInt8]) {
        apply(Step(removed: (name, node), added: (newName, node)))
    }

    mutating func sync() {
        (safe, steps) = (now, [])
    }

    /// Which steps a power loss leaves done.
    func survivors(_ order: MemoryVolume.Order, _ chance: inout CrashChance) -> [Step] {
        switch order {
        case .ordered: Array(steps.prefix(chance.count(upTo: steps.count)))
        case .loose: steps.filter { chance.survives($0) }
        }
    }

    private mutating func apply(_ step: Step) {
        steps.append(step)
        step.apply(to: &now)
    }
}
