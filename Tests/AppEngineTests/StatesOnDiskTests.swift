#if FAILPOINTS
    import Foundation
    import LinuxIO
    import TestSupport
    import Testing

    /// What a crash can leave of a job on disk, and what the next start makes of it: the page StatesOnDisk.
    @Suite(.timeLimit(.minutes(isFullRun ? 60 : 10)))
    struct StatesOnDiskTests {
        private static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(
                path: "Sources/PushDaemon/Documentation.docc/StatesOnDisk.md")

        @Test func `the page lists every state that a crash leaves, and what the next start does with it`() async throws
        {
            let sightings = try await withThrowingTaskGroup { group in
                for scenario in Scenario.allCases { group.addTask { try await Sightings(of: scenario) } }
                return try await group.reduce(into: [Sightings]()) { $0.append($1) }
            }
            let table = StateTable(sightings)
            #expect(table.faults.isEmpty, "\(table.faults.joined(separator: "\n"))")
            let rows = try String(contentsOf: Self.page, encoding: .utf8).split(separator: "\n").map(String.init)
                .filter { $0.hasPrefix("| ") }
            let differences = table.lines.difference(from: rows).map { change in
                switch change {
                case .insert(_, let row, _): "+ " + row
                case .remove(_, let row, _): "- " + row
                }
            }
            #expect(differences.isEmpty, "the page differs, and the tables that it should have are printed")
            // The message of a failure is cut where it is long.
            if !differences.isEmpty { print((differences + table.tables).joined(separator: "\n")) }
        }
    }

    /// The states that crashes of one scenario leave.
    private struct Sightings {
        let scenario: Scenario
        /// The states that the death of the process leaves.
        private(set) var afterDeath: Set<DiskState> = []
        /// What the next start made of each state, of a few trees.
        private(set) var recoveries: [ObservedRecovery] = []
        private var trees: [DiskState: [CrashState]] = [:]
        private var journals = JournalMemo()

        init(of scenario: Scenario) async throws {
            self.scenario = scenario
            let trace = try await scenario.trace()
            for volume in trace.before { try sweep(volume, trace) }
            for (state, trees) in trees {
                for tree in isFullRun ? trees : Array(trees.prefix(1)) {
                    recoveries.append(try await ObservedRecovery(of: tree, state, trace))
                }
            }
            trees = [:]
        }

        /// Strikes before the first change and after each.
        private mutating func sweep(_ volume: MemoryVolume, _ trace: Scenario.Trace) throws {
            var volume = volume
            for change in trace.changes {
                try volume.apply(change)
                if let state = note(volume.seen, trace) { afterDeath.insert(state) }
                for tree in volume.edges { _ = note(tree, trace) }
            }
        }

        private mutating func note(_ tree: CrashState, _ trace: Scenario.Trace) -> DiskState? {
            let state = DiskState(of: tree, journals.job(in: tree), bytes: trace.bytes)
            guard !state.isNothing else { return nil }
            // The first one and the last one differ most.
            trees[state] = (trees[state]?.prefix(1) ?? []) + [tree]
            return state
        }
    }

    /// The tables of the page.
    private struct StateTable {
        /// The states in which the next start does not do the same each time, or leaves a job that is not in order.
        private(set) var faults: [String] = []
        private var meanings: [DiskState: String] = [:]
        private let afterDeath: Set<DiskState>

        init(_ sightings: [Sightings]) {
            afterDeath = sightings.reduce(into: []) { $0.formUnion($1.afterDeath) }
            for found in sightings {
                for recovery in found.recoveries { add(recovery, found.scenario) }
            }
        }

        private mutating func add(_ recovery: ObservedRecovery, _ scenario: Scenario) {
            let (state, meaning) = (recovery.before, recovery.meaning)
            if !recovery.isComplete || !recovery.isExact {
                faults.append("\(scenario): \(state.cells) \(meaning), and becomes \(recovery.after.cells)")
            }
            if let other = meanings[state], other != meaning {
                faults.append("\(scenario): \(state.cells) \(meaning), and elsewhere \(other)")
            }
            meanings[state] = meaning
        }

        /// The lines of both tables: after the death of a process, and those that only a power loss adds.
        var lines: [String] { rows(true) + rows(false) }

        /// Both tables as the page has them.
        var tables: [String] {
            [rows(true), rows(false)].flatMap { ["", $0[0], "|---|---|---|---|---|---|"] + $0.dropFirst() }
        }

        private func rows(_ isDeath: Bool) -> [String] {
            let head = ["`new/`", "`work/`", "`hold/`", "archive", "journal", "the next start"]
            let states = meanings.keys.filter { afterDeath.contains($0) == isDeath }.sorted()
            return ([head] + states.map { $0.cells + [meanings[$0] ?? ""] })
                .map { "| \($0.joined(separator: " | ")) |" }
        }
    }
#endif
