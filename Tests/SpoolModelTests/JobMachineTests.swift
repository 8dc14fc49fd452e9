import APNSModel
import SpoolModel
import TestSupport
import Testing

private let refused = Outcome.rejected(Refusal(status: 8, reason: "BadDeviceToken", verdict: .invalid))
private let invalid = Outcome.rejected(Refusal(status: nil, reason: "BadDeviceToken", verdict: .invalid))
private let givenUp = Outcome.unsent(Refusal(status: nil, reason: "GaveUp", verdict: .later))

struct JobMachineTests {
    /// A job of so many notifications that is being sent.
    private func sending(_ count: Int) -> JobMachine {
        var machine = JobMachine()
        #expect(machine.handle(.opened) == .read)
        #expect(machine.handle(.read(count: count, fault: nil)) == .send)
        return machine
    }

    @Test func `a job goes through its life`() throws {
        var machine = sending(3)
        #expect(machine.handle(.settled(0..<2, .accepted)) == .none && machine.remaining.runs == [2..<3])
        guard case .publish(let conclusion) = machine.handle(.settled(2..<3, refused)) else {
            Issue.record("the last outcome ends the job")
            return
        }
        #expect(conclusion.state == .done && conclusion.code == nil && conclusion.tally.accepted == 2)
        #expect(machine.handle(.published) == .archive(conclusion))
        #expect(machine.handle(.archived) == .none && machine.state == .archived(conclusion))
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
    ) {
        var machine = sending(outcomes.count)
        var last = JobMachine.Action.none
        for (index, outcome) in outcomes.enumerated() { last = machine.handle(.settled(index..<index + 1, outcome)) }
        guard case .publish(let conclusion) = last else {
            Issue.record("the job did not end")
            return
        }
        #expect(conclusion.state == state && conclusion.code == code)
    }

    @Test func `a faulty document ends the job before anything is sent`() {
        var machine = JobMachine()
        _ = machine.handle(.opened)
        let conclusion = Conclusion(tally: Tally(), fault: .invalid)
        #expect(machine.handle(.read(count: 5, fault: .invalid)) == .publish(conclusion))
        #expect(conclusion.state == .failed && machine.remaining.isEmpty)
    }

    @Test func `a stopped job waits for what is under way, and counts all of it`() {
        var machine = sending(10)
        _ = machine.handle(.settled(0..<4, .accepted))
        #expect(machine.handle(.stopped(.unreadable)) == .giveUp)
        #expect(machine.handle(.settled(7..<10, givenUp)) == .none)
        #expect(machine.handle(.settled(4..<6, .accepted)) == .none)
        guard case .publish(let conclusion) = machine.handle(.settled(6..<7, refused)) else {
            Issue.record("the last outcome ends the job")
            return
        }
        #expect(conclusion.state == .failed && conclusion.code == .unreadable)
        let tally = conclusion.tally
        #expect((tally.accepted, tally.unsent, tally.refused, tally.total) == (6, 3, 1, 10))
    }

    @Test func `a stopped job that has nothing left to settle ends at once`() {
        var machine = sending(2)
        _ = machine.handle(.stopped(.cancelled))
        guard case .publish(let conclusion) = machine.handle(.settled(0..<2, givenUp)) else {
            Issue.record("the last outcome ends the job")
            return
        }
        #expect(conclusion.code == .cancelled && conclusion.tally.unsent == 2)
    }

    @Test func `a held job first lets settle what is under way`() {
        var machine = sending(3)
        #expect(machine.handle(.hold(.operatorRequest)) == .stopSending)
        #expect(machine.handle(.settled(0..<1, .accepted)) == .none)
        #expect(machine.handle(.drained) == .park(.operatorRequest))
        #expect(machine.state == .held(.operatorRequest) && machine.remaining.runs == [1..<3])
    }

    @Test func `a job that is all settled while it drains is done, not held`() {
        var machine = sending(1)
        _ = machine.handle(.hold(.operatorRequest))
        guard case .publish = machine.handle(.settled(0..<1, .accepted)) else {
            Issue.record("the last outcome ends the job")
            return
        }
    }

    @Test func `an acceptance by silence can turn out wrong before the job ends`() {
        var machine = sending(10)
        _ = machine.handle(.settled(0..<8, .accepted))
        #expect(machine.handle(.corrected(3..<4, refused)) == .none)
        #expect(machine.handle(.reopened(4..<8)) == .none)
        #expect(machine.tally.accepted == 3 && machine.tally.refused == 1 && machine.remaining.runs == [4..<10])
    }

    @Test func `an acceptance by silence can turn out wrong after the job ended`() {
        var machine = sending(4)
        _ = machine.handle(.settled(0..<4, .accepted))
        _ = machine.handle(.published)
        #expect(machine.handle(.corrected(1..<2, refused)) == .correct(1..<2, refused))
        #expect(machine.handle(.reopened(2..<4)) == .sendAgain(2..<4))
        #expect(machine.handle(.settled(2..<4, .accepted)) == .correct(2..<4, .accepted))
        #expect(machine.tally.total == 4 && machine.remaining.isEmpty)
    }

    @Test func `a repeated outcome counts once`() {
        var machine = sending(4)
        _ = machine.handle(.settled(0..<2, .accepted))
        _ = machine.handle(.settled(0..<3, .accepted))
        #expect(machine.tally.accepted == 3)
    }

    @Test func `a job resumes from what the journal knows`() {
        var tally = Tally()
        tally.add(.accepted, count: 6)
        var machine = JobMachine(remaining: IndexRuns(6..<8), tally: tally)
        #expect(machine.state == .sending)
        guard case .publish(let conclusion) = machine.handle(.settled(6..<8, .accepted)) else {
            Issue.record("the last outcome ends the job")
            return
        }
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
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return .opened
        case 1: return .stopped(.cancelled)
        case 2: return .hold(.changed)
        case 3: return .drained
        case 4: return .published
        case 5: return .archived
        case 6: return .settled(range, refused)
        default: return .settled(range, .accepted)
        }
    }
}
