import PushModel
import Testing

@testable import JournalModel
@testable import SpoolModel

struct RecoveryPlanTests {
    /// What the journal can know of a job.
    enum Known: String, CaseIterable {
        case nothing, orphan, header, claimed, damaged, poison, ended, told
    }

    /// Whether the journal holds the bytes.
    enum Size: CaseIterable { case small, large }

    private typealias Found = RecoveryFindings

    private func job(_ known: Known, _ size: Size) -> JournalJob {
        let content: JournalHeader.Content = size == .small ? .bytes([1]) : .checks([1])
        var job = JournalJob(
            JournalSample.header(1, recipients: 10, content: content),
            at: JournalPlace(position: JournalPosition(epoch: 1, offset: 32), seed: 0, byteCount: 99))
        job.isClaimed = known != .header
        job.isDamaged = known == .damaged
        guard known == .ended || known == .told else { return job }
        let end = JournalPosition(epoch: 1, offset: 800)
        job.apply(JournalResult(.accepted, [0..<10], at: JournalSample.noon), at: end)
        job.end(JournalSample.final(job), at: end)
        if known == .told {
            job.markTold(
                JournalPublication(app: "weather", feedback: JournalSample.name("f"), through: end))
        }
        return job
    }

    private func record(_ known: Known, _ size: Size) -> RecoveryRecord {
        let poison = JournalSuspicion(deathCount: 2, wasAlone: true)
        switch known {
        case .nothing: return .none
        case .orphan: return .orphan
        case .header, .claimed, .damaged, .ended, .told: return .job(job(known, size), suspicion: nil)
        case .poison: return .job(job(known, size), suspicion: poison)
        }
    }

    /// The word for a plan.
    private func word(_ plan: RecoveryPlan) -> String {
        switch plan {
        case .resume: "resume"
        case .startOver: "startOver"
        case .claimAgain: "claimAgain"
        case .restore: "restore"
        case .finish: "finish"
        case .forget(let why): "forget \(why)"
        case .leave: "leave"
        case .hold(let why): "hold \(why)"
        }
    }

    private func plan(_ known: Known, _ size: Size, _ change: (inout RecoveryFindings) -> Void) -> String {
        var found = RecoveryFindings()
        change(&found)
        return word(RecoveryPlan(record(known, size), found: found))
    }

    /// One row: what is known; then the plans for a file in `work/` (same, torn, other), in `new/`, nowhere.
    struct Row: CustomTestStringConvertible, Sendable {
        let known: Known
        let size: Size
        let plans: [String]
        let why: String

        var testDescription: String { "\(known), \(size): \(why)" }
    }

    static let rows: [Row] = Size.allCases.flatMap { size in
        let isSmall = size == .small
        let torn = isSmall ? "restore" : "hold changed"
        let lost = isSmall ? "restore" : "forget gone"
        let over = ["startOver", "startOver", "startOver", "forget unknown", "forget unknown"]
        let orphan = [
            "hold damagedJournal", "hold damagedJournal", "hold damagedJournal", "forget gone", "forget gone",
        ]
        let end = isSmall ? "restore" : "finish"
        let gone = isSmall ? "restore" : "forget told"
        return [
            Row(known: .nothing, size: size, plans: over, why: "without a header nothing was sent"),
            Row(known: .orphan, size: size, plans: orphan, why: "something was sent, nobody knows what"),
            Row(
                known: .header, size: size, plans: ["resume", torn, "hold changed", "claimAgain", "forget neverOurs"],
                why: "the claim may not have been made, and who drops may take back"),
            Row(
                known: .claimed, size: size, plans: ["resume", torn, "hold changed", "claimAgain", lost],
                why: "it was ours, whatever a power cut did to the names"),
            Row(
                known: .damaged, size: size,
                plans: ["hold damagedJournal", torn, "hold changed", "claimAgain", lost],
                why: "more may have been sent than is known; the file comes first"),
            Row(
                known: .poison, size: size, plans: ["hold poison", torn, "hold changed", "claimAgain", lost],
                why: "the daemon died over it; the file comes first"),
            Row(
                known: .ended, size: size, plans: ["finish", end, "finish", "claimAgain", lost],
                why: "nothing is sent any more, but the line may not be out"),
            Row(
                known: .told, size: size, plans: ["finish", end, "finish", "claimAgain", gone],
                why: "only the archive is missing"),
        ]
    }

    @Test(arguments: rows) func `every file is dealt with for a reason`(_ row: Row) {
        let plans = [
            plan(row.known, row.size) { $0.work = .same }, plan(row.known, row.size) { $0.work = .torn },
            plan(row.known, row.size) { $0.work = .other }, plan(row.known, row.size) { $0.isInNew = true },
            plan(row.known, row.size) { _ in },
        ]
        #expect(plans == row.plans)
    }

    @Test(arguments: Known.allCases, Size.allCases) func `the later phase counts`(_ known: Known, _ size: Size) {
        let works = RecoveryFindings.Copy.allCases
        for work in works {
            let alone = plan(known, size) { $0.work = work }
            let both = plan(known, size) { ($0.work, $0.isInNew) = (work, true) }
            #expect(work == .absent || alone == both, "\(work)")
            guard known != .nothing && known != .orphan else { continue }
            #expect(plan(known, size) { ($0.work, $0.isInNew, $0.isHeld) = (work, true, true) } == "leave")
            guard known == .ended || known == .told else { continue }
            let archived = plan(known, size) { ($0.work, $0.isInNew, $0.isArchived) = (work, true, true) }
            #expect(archived == "finish")
        }
    }

    @Test func `a file in new that was read and is torn since is restored, whatever was recorded behind its header`() {
        for known in [Known.header, .claimed, .ended, .told] {
            #expect(plan(known, .small) { $0.isTornInNew = true } == "restore", "\(known)")
        }
        #expect(plan(.header, .small) { _ in } == "forget neverOurs")
    }

    @Test func `in a cluster a file that is absent was moved, and is another node's`() {
        for (isElsewhere, isTorn, word) in [
            (false, false, "restore"), (true, false, "forget gone"), (true, true, "restore"),
        ] {
            let plan = plan(.claimed, .small) {
                ($0.mayBeElsewhere, $0.isTornInNew) = (isElsewhere, isTorn)
            }
            #expect(plan == word, "\(isElsewhere), \(isTorn)")
        }
    }

    @Test func `what was intended is doubtful and does not remain`() {
        var job = job(.claimed, .small)
        job.apply(JournalResult(.accepted, [0..<2], at: JournalSample.noon), at: job.position)
        job.intend([1..<4])
        var found = RecoveryFindings()
        found.work = .same
        guard case .resume(let progress) = RecoveryPlan(.job(job, suspicion: nil), found: found) else {
            Issue.record("not resumed")
            return
        }
        #expect(progress.remaining.runs == [4..<10] && progress.doubtful.runs == [2..<4])
        #expect(progress.tally.accepted == 2)
    }

    @Test func `a power cut leaves a beginning, then nothing or zeros`() {
        let whole: [UInt8] = [1, 2, 0, 4]
        for torn in [[], [1], [1, 2, 0], [0, 0, 0, 0], [1, 2, 0, 0], [0]] as [[UInt8]] {
            #expect(RecoveryFindings.Copy(torn, expected: whole) == .torn, "\(torn)")
        }
        for other in [[1, 3], [1, 2, 0, 5], [1, 2, 0, 4, 0], [0, 2]] as [[UInt8]] {
            #expect(RecoveryFindings.Copy(other, expected: whole) == .other, "\(other)")
        }
        #expect(RecoveryFindings.Copy(whole, expected: whole) == .same)
    }

    @Test func `the link in new is dropped only when the same file got further`() {
        var found = RecoveryFindings()
        found.isLinkedInNew = true
        #expect(!found.dropsLinkInNew)
        found.work = .same
        #expect(found.dropsLinkInNew)
        found.isLinkedInNew = false
        #expect(!found.dropsLinkInNew)
    }
}
