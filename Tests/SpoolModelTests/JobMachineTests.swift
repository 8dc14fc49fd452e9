import APNSModel
import JobFormat
import JournalModel
import SpoolModel
import TestSupport
import Testing

private let refused = Outcome.rejected(Refusal(status: 8, reason: "BadDeviceToken", verdict: .invalid))
private let invalid = Outcome.rejected(Refusal(status: nil, reason: "BadDeviceToken", verdict: .invalid))
private let givenUp = Outcome.unsent(Refusal(status: nil, reason: "GaveUp", verdict: .later))

struct JobMachineTests {
    /// A job of so many notifications that is being sent.
    private func sending(_ count: Int) -> JobMachine {
        let machine = JobMachine(count: count, fault: nil)
        #expect(machine.state == .sending)
        return machine
    }

    @Test func `a job goes through its life`() throws {
        var machine = sending(3)
        #expect(machine.handle(.settled(0..<2, .accepted)) == nil && machine.remaining.runs == [2..<3])
        #expect(machine.handle(.settled(2..<3, refused)) == .publish)
        let conclusion = try conclusion(of: machine)
        #expect(conclusion.state == .done && conclusion.code == nil && conclusion.tally.accepted == 2)
        #expect(machine.handle(.published) == nil && machine.state == .published(conclusion))
        #expect(machine.handle(.archived) == nil && machine.state == .archived(conclusion))
    }

    @Test(arguments: [
        ([Outcome.accepted], Conclusion.State.done, nil), ([.unknown], .done, nil), ([.accepted, refused], .done, nil),
        ([.accepted, .expired], .done, nil), ([refused], .failed, ResultCode.refused), ([invalid], .failed, .invalid),
        ([invalid, refused], .failed, .refused), ([.expired], .failed, .expired),
        ([.expired, invalid], .failed, .expired),
        ([.accepted, givenUp], .failed, .unsent), ([givenUp, refused], .failed, .unsent),
    ])
    func `the outcomes decide where the job ends and why`(
        outcomes: [Outcome], state: Conclusion.State, code: ResultCode?
    ) throws {
        var machine = sending(outcomes.count)
        var last: JobMachine.Action?
        for (index, outcome) in outcomes.enumerated() { last = machine.handle(.settled(index..<index + 1, outcome)) }
        #expect(last == .publish)
        let conclusion = try conclusion(of: machine)
        #expect(conclusion.state == state && conclusion.code == code)
    }

    /// How a job ended whose lines are to be told.
    private func conclusion(of machine: JobMachine) throws -> Conclusion {
        guard case .settled(let conclusion) = machine.state else { throw Unsettled(state: machine.state) }
        return conclusion
    }

    private struct Unsettled: Error {
        let state: JobMachine.State
    }

    @Test func `a faulty document ends the job before anything is sent`() throws {
        let machine = JobMachine(count: 5, fault: .invalid)
        #expect(try conclusion(of: machine) == Conclusion(tally: Tally(), fault: .invalid))
        #expect(try conclusion(of: machine).state == .failed && machine.remaining.isEmpty)
    }

    @Test func `a stopped job waits for what is under way, and counts all of it`() throws {
        var machine = sending(10)
        _ = machine.handle(.settled(0..<4, .accepted))
        #expect(machine.handle(.stopped(.unreadable)) == .giveUp)
        #expect(machine.handle(.settled(7..<10, givenUp)) == nil)
        #expect(machine.handle(.settled(4..<6, .accepted)) == nil)
        #expect(machine.handle(.settled(6..<7, refused)) == .publish)
        let conclusion = try conclusion(of: machine)
        #expect(conclusion.state == .failed && conclusion.code == .unreadable)
        let tally = conclusion.tally
        #expect((tally.accepted, tally.unsent, tally.refused, tally.total) == (6, 3, 1, 10))
    }

    @Test func `a stopped job that has nothing left to settle ends at once`() throws {
        var machine = sending(2)
        _ = machine.handle(.stopped(.cancelled))
        #expect(machine.handle(.settled(0..<2, givenUp)) == .publish)
        let conclusion = try conclusion(of: machine)
        #expect(conclusion.code == .cancelled && conclusion.tally.unsent == 2)
    }

    @Test func `a held job first lets settle what is under way`() {
        var machine = sending(3)
        #expect(machine.handle(.hold(.operatorRequest)) == .stopSending)
        #expect(machine.handle(.settled(0..<1, .accepted)) == nil)
        #expect(machine.handle(.drained) == .park(.operatorRequest))
        #expect(machine.state == .held(.operatorRequest) && machine.remaining.runs == [1..<3])
    }

    @Test func `a job that is all settled while it drains is done, not held`() {
        var machine = sending(1)
        _ = machine.handle(.hold(.operatorRequest))
        #expect(machine.handle(.settled(0..<1, .accepted)) == .publish)
    }

    @Test func `an acceptance by silence can turn out wrong before the job ends`() {
        var machine = sending(10)
        _ = machine.handle(.settled(0..<8, .accepted))
        #expect(machine.handle(.corrected(3..<4, refused)) == nil)
        #expect(machine.handle(.reopened(4..<8)) == nil)
        #expect(machine.tally.accepted == 3 && machine.tally.refused == 1 && machine.remaining.runs == [4..<10])
    }

    @Test func `an acceptance by silence can turn out wrong after the job ended`() {
        var machine = sending(4)
        _ = machine.handle(.settled(0..<4, .accepted))
        _ = machine.handle(.published)
        let state = machine.state
        #expect(machine.handle(.corrected(1..<2, refused)) == nil && machine.tally.refused == 1)
        #expect(machine.handle(.reopened(2..<4)) == nil && machine.remaining.runs == [2..<4])
        #expect(machine.handle(.settled(2..<4, .accepted)) == nil && machine.state == state)
        #expect(machine.tally.total == 4 && machine.remaining.isEmpty)
    }

    @Test func `a repeated outcome counts once`() {
        var machine = sending(4)
        _ = machine.handle(.settled(0..<2, .accepted))
        _ = machine.handle(.settled(0..<3, .accepted))
        #expect(machine.tally.accepted == 3)
    }

    @Test func `a job resumes from what the journal knows`() throws {
        var tally = Tally()
        tally.add(.accepted, count: 6)
        var machine = JobMachine(remaining: IndexRuns(6..<8), tally: tally)
        #expect(machine.state == .sending)
        #expect(machine.handle(.settled(6..<8, .accepted)) == .publish)
        let conclusion = try conclusion(of: machine)
        #expect(conclusion.tally.accepted == 8)
        #expect(
            JobMachine(remaining: IndexRuns(), tally: tally).state == .settled(Conclusion(tally: tally, fault: nil)))
    }

    @Test func `no run of events loses a notification or leaves an archive`() {
        for seed in UInt64(0)..<400 {
            var random = SeededGenerator(seed: seed)
            var machine = sending(20)
            for _ in 0..<40 {
                let before = machine.state
                _ = machine.handle(arbitrary(&random))
                if case .archived = before { #expect(machine.state == before, "seed \(seed)") }
                #expect(machine.tally.total + machine.remaining.count == 20, "seed \(seed)")
            }
        }
    }

    private func arbitrary(_ random: inout SeededGenerator) -> JobMachine.Event {
        let start = Int.random(in: 0..<20, using: &random)
        let range = start..<Int.random(in: start...20, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return .stopped(.cancelled)
        case 1: return .hold(.changed)
        case 2: return .drained
        case 3: return .published
        case 4: return .archived
        case 5: return .settled(range, refused)
        default: return .settled(range, .accepted)
        }
    }
}
