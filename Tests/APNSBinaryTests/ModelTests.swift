import APNSBinary
import PushModel
import TestSupport
import Testing

/// Laws that hold in every run against the model gateway, whatever the trouble.
struct ModelTests {
    private static let seeds = UInt64(0)..<UInt64(trials(100, full: 350))

    @Test(arguments: ModelRun.Weather.allCases)
    func `every run keeps the laws`(weather: ModelRun.Weather) throws {
        for seed in Self.seeds {
            var run = ModelRun(weather, seed: seed)
            let isFinished = try run.run()
            let faults = isFinished ? outcomeFaults(run) + wireFaults(run) : ["it never ends"]
            #expect(faults.isEmpty, "\(weather) seed \(seed)")
        }
    }

    /// Everyone has one outcome, and a true one.
    private func outcomeFaults(_ run: ModelRun) -> [String] {
        let accepted = Set(run.ledger.accepted)
        var faults = run.names.flatMap { name -> [String] in
            let settlements = run.settlements[name, default: []]
            guard let first = settlements.first, let last = settlements.last else { return ["\(name) has no outcome"] }
            var faults: [String] = []
            if first.isCorrection
                || settlements.dropFirst().contains(where: { !$0.isCorrection && $0.outcome != .accepted })
            {
                faults.append("\(name) has outcomes that do not follow")
            }
            if run.weather != .late, settlements.count != 1 {
                faults.append("\(name) has \(settlements.count) outcomes")
            }
            switch last.outcome {
            case .accepted: break
            case .rejected(let refusal): faults += rejectionFaults(name, refusal, run)
            case .unknown: if !run.reported.contains(name.job) { faults.append("\(name) is unknown") }
            case .expired, .unsent: faults.append("\(name) was given up")
            }
            return faults
        }
        let untrue = run.names.filter { run.settlements[$0]?.last?.outcome == .accepted && !accepted.contains($0) }
        if untrue.count > run.lostCount { faults.append("\(untrue) are not accepted") }
        return faults
    }

    private func rejectionFaults(_ name: Name, _ refusal: Refusal, _ run: ModelRun) -> [String] {
        let needed = run.bad.contains(name) ? 1 : SendQueue.tryLimit
        let isEnough = run.ledger.refusalCounts[name, default: 0] >= needed
        let verdict: Verdict = run.bad.contains(name) && run.weather != .mute ? .invalid : .message
        return isEnough && refusal.verdict == verdict ? [] : ["\(name) is wrongly rejected: \(refusal)"]
    }

    /// Nobody is accepted twice but those who were in doubt, and the order is kept where it can be.
    private func wireFaults(_ run: ModelRun) -> [String] {
        var faults: [String] = []
        let counts = Dictionary(run.ledger.accepted.map { ($0, 1) }, uniquingKeysWith: +)
        let doubles = counts.values.reduce(0) { $0 + $1 - 1 }
        if doubles > run.doubtfulCount { faults.append("\(doubles) doubles, \(run.doubtfulCount) in doubt") }
        if counts.contains(where: { run.reported.contains($0.key.job) && $0.value > 1 }) {
            faults.append("one that must not be sent twice was accepted twice")
        }
        if run.weather == .fair, run.doubtfulCount > 0 { faults.append("doubt in fair weather") }
        if run.doubtfulCount == 0, run.connectionLimit == 1, !run.hasHunted, !isInOrder(run) {
            faults.append("the order is lost: \(run.ledger.accepted)")
        }
        if run.queue.isHunting || !run.queue.isBlocked { faults.append("the queue is not at rest") }
        return faults
    }

    /// Whether the notifications of each job were accepted in order, except of jobs that were held for a failure of the gateway.
    private func isInOrder(_ run: ModelRun) -> Bool {
        let held = Set(run.ledger.refusalCounts.keys.filter { !run.bad.contains($0) }.map(\.job))
        let straight = run.ledger.accepted.filter { !held.contains($0.job) }
        return Dictionary(grouping: straight, by: \.job).values.allSatisfy { names in
            zip(names, names.dropFirst()).allSatisfy { $0.index < $1.index }
        }
    }
}
