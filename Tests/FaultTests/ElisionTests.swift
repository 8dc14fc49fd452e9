import LinuxIO
import TestSupport
import Testing

/// Syncs that are left out, one at a time: each that the daemon needs is missed by a test, and the others are not.
@Suite(.serialized) struct ElisionTests {
    /// A sync without which something can be lost, doubled or told wrongly, where that shows, and in which orders.
    struct Must: Sendable, CustomStringConvertible {
        let site: SyncSite
        let stage: Elision.Stage
        let order: MemoryVolume.Order
        var description: String { "\(site.rawValue), \(stage), \(order)" }
    }

    static let musts: [Must] = MemoryVolume.Order.allCases.flatMap { order in
        [
            (SyncSite.jobFile, Elision.Stage.underWay), (.journal, .underWay), (.intent, .announced),
            (.journalFolder, .underWay), (.newFolder, .underWay), (.feedbackFile, .underWay),
            (.feedbackFolder, .underWay), (.resultFile, .archived),
            (.archives, .forgotten), (.holdFolder, .held), (.holdSource, .held),
        ].map { Must(site: $0, stage: $1, order: order) }
    }.filter { must in
        // There a rename is never lost, and the sync of `work/` takes what came to `hold/` along.
        must.site != .holdFolder || must.order == .loose
    }

    /// Those that save work, or cover what others cover as well: `README.md` says why.
    static let others: [SyncSite] = [.journalFile, .fullName, .ballast]

    /// In a quick run a few of them, others each time.
    private static var sample: [Must] {
        var generator = SeededGenerator(seed: seed)
        return isFullRun ? musts : Array(musts.shuffled(using: &generator).prefix(2))
    }

    @Test(arguments: sample)
    func `a daemon that leaves out a sync is found out`(must: Must) async throws {
        // The first tree that shows it ends the trial: nearly always one of the first three.
        let trial = Elision(stage: must.stage, site: must.site, order: must.order, count: 12, seed: seed)
        let outcomes = try await trial.outcomes()
        let culprit = outcomes.first { !$0.isGood }?.verdict
        report("B13 sync-elision \(must): \(culprit.map { "found out by \($0.broken)" } ?? "survived"); seed \(seed)")
        #expect(culprit != nil, "no test misses the sync \(must)")
    }

    private static var controls: [(stage: Elision.Stage, order: MemoryVolume.Order)] {
        let all = MemoryVolume.Order.allCases.flatMap { order in Elision.Stage.allCases.map { ($0, order) } }
        var generator = SeededGenerator(seed: seed)
        return isFullRun ? all : Array(all.shuffled(using: &generator).prefix(2))
    }

    @Test(arguments: controls)
    func `a daemon that leaves out none is not`(stage: Elision.Stage, order: MemoryVolume.Order) async throws {
        let trial = Elision(stage: stage, order: order, count: trials(3, full: 12), seed: seed)
        for outcome in try await trial.outcomes() { #expect(outcome.isGood, "\(outcome.verdict)") }
    }

    /// Its result file is there already and must be known again, so it must be the same to the last byte.
    @Test func `a job that had ended when the power was lost ends as it had ended`() async throws {
        let trial = Elision(stage: .resultOut, order: .loose, count: 3, seed: seed)
        for outcome in try await trial.outcomes() { #expect(outcome.isGood, "\(outcome.verdict)") }
    }

    @Test(.full, arguments: others, Elision.Stage.allCases)
    func `a daemon that leaves out a sync that is not needed is not`(site: SyncSite, stage: Elision.Stage) async throws
    {
        let trial = Elision(stage: stage, site: site, count: 6, seed: seed)
        for outcome in try await trial.outcomes() { #expect(outcome.isGood, "\(outcome.verdict)") }
    }
}
