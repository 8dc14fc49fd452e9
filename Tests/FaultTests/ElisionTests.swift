import LinuxIO
import TestSupport
import Testing

/// Syncs that are left out, one at a time: each that the daemon needs is missed by a test, and the others are not.
@Suite(.serialized) struct ElisionTests {
    /// The syncs without which something can be lost, doubled or told wrongly, each with where that shows.
    static let musts: [(site: SyncSite, stage: Elision.Stage)] = [
        (.jobFile, .underWay), (.journal, .underWay), (.journalFolder, .underWay), (.newFolder, .underWay),
        (.feedbackFile, .underWay), (.feedbackFolder, .underWay), (.resultFile, .archived), (.archives, .forgotten),
        (.holdFolder, .held), (.holdSource, .held),
    ]

    /// Those that save work, or cover what others cover as well: `README.md` says why.
    static let others: [SyncSite] = [.journalFile, .archiveSource, .fullName, .ballast]

    @Test(arguments: isFullRun ? musts : Array(musts.shuffled().prefix(3)))
    func `a daemon that leaves out a sync is found out`(site: SyncSite, stage: Elision.Stage) async throws {
        let outcomes = try await Elision(stage: stage, site: site).outcomes()
        let culprit = outcomes.first { !$0.isGood }?.verdict
        report("sync-elision \(site.rawValue): \(culprit.map { "found out by \($0.broken)" } ?? "survived")")
        #expect(culprit != nil, "no test misses the sync \(site.rawValue)")
    }

    @Test(arguments: Elision.Stage.allCases, isFullRun ? MemoryVolume.Order.allCases : [.loose])
    func `a daemon that leaves out none is not`(stage: Elision.Stage, order: MemoryVolume.Order) async throws {
        let trial = Elision(stage: stage, order: order, count: isFullRun ? 12 : 3, seed: seed)
        for outcome in try await trial.outcomes() { #expect(outcome.isGood, "\(outcome.verdict)") }
    }

    @Test(.full, arguments: others, Elision.Stage.allCases)
    func `a daemon that leaves out a sync that is not needed is not`(site: SyncSite, stage: Elision.Stage) async throws
    {
        let trial = Elision(stage: stage, site: site, count: 6, seed: seed)
        for outcome in try await trial.outcomes() { #expect(outcome.isGood, "\(outcome.verdict)") }
    }
}
