import JobFormat
import JournalModel
import PushModel
import SpoolModel
import TestSupport
import Testing

private let refused = Outcome.rejected(Refusal(status: 8, reason: "BadDeviceToken", verdict: .invalid))
private let invalid = Outcome.rejected(Refusal(status: nil, reason: "BadDeviceToken", verdict: .invalid))
private let givenUp = Outcome.unsent(Refusal(status: nil, reason: "GaveUp", verdict: .later))
private let endTime = WallTime(epochSeconds: 1_795_262_400)

/// A job that goes to an archive.
private func recorded(_ conclusion: Conclusion) throws -> JournalFinal {
    JournalFinal(conclusion, day: "2026-11-21", name: try #require(FileName("a.json")), finishedAt: endTime)
}

struct JobMachineTests {
    /// A job of so many notifications that is being sent.
    private func sending(_ count: Int) -> JobMachine {
        let machine = JobMachine(count: count, fault: nil)
        #expect(machine.phase == .sending)
        return machine
    }

    @Test func `a job goes through its life`() throws {
        var machine = sending(3)
        #expect(!machine.settle(0..<2, .accepted) && machine.remaining.runs == [2..<3])
        #expect(machine.settle(2..<3, refused) == true)
        let conclusion = try conclusion(of: machine)
        #expect(conclusion.state == .done && conclusion.code == nil && conclusion.tally.accepted == 2)
        #expect(machine.conclude(at: endTime) && machine.phase == .concluded(conclusion, at: endTime))
        let final = try recorded(conclusion)
        machine.noteTold(final)
        #expect(machine.phase == .told(final))
        machine.notePublished()
        #expect(machine.phase == .published(final))
        machine.noteArchived()
        #expect(machine.phase == .archived)
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
        for (index, outcome) in outcomes.enumerated() {
            #expect(machine.settle(index..<index + 1, outcome) == (index == outcomes.count - 1))
        }
        let conclusion = try conclusion(of: machine)
        #expect(conclusion.state == state && conclusion.code == code)
    }

    /// How a job ended whose end is to be recorded.
    private func conclusion(of machine: JobMachine) throws -> Conclusion {
        guard case .settled(let conclusion) = machine.phase else { throw Unsettled(phase: machine.phase) }
        return conclusion
    }

    private struct Unsettled: Error {
        let phase: JobMachine.Phase
    }

    @Test func `a faulty document ends the job before anything is sent`() throws {
        let machine = JobMachine(count: 5, fault: .invalid)
        #expect(try conclusion(of: machine) == Conclusion(tally: Tally(), fault: .invalid))
        #expect(try conclusion(of: machine).state == .failed && machine.remaining.isEmpty)
    }

    @Test func `a job that ends waits for what is under way, and counts all of it`() throws {
        var machine = sending(10)
        _ = machine.settle(0..<4, .accepted)
        #expect(machine.end(rest: givenUp, .unreadable) == true)
        #expect(!machine.settle(7..<10, givenUp) && !machine.settle(4..<6, .accepted))
        #expect(machine.settle(6..<7, refused) == true)
        let conclusion = try conclusion(of: machine)
        #expect(conclusion.state == .failed && conclusion.code == .unreadable)
        let tally = conclusion.tally
        #expect((tally.accepted, tally.unsent, tally.refused, tally.total) == (6, 3, 1, 10))
    }

    @Test func `a job whose time is up ends as its outcomes say, unless it cannot continue`() throws {
        var machine = sending(2)
        #expect(machine.end(rest: givenUp) && !machine.end(rest: .expired))
        var other = machine
        #expect(machine.settle(0..<2, .accepted) == true)
        #expect(try conclusion(of: machine).code == nil)
        #expect(other.end(rest: .expired, .unreadable) && !other.end(rest: .expired, .cancelled))
        #expect(other.settle(0..<2, .accepted) == true)
        #expect(try conclusion(of: other).code == .unreadable)
    }

    @Test func `a held job first lets settle what is on a connection`() throws {
        var machine = sending(4)
        #expect(machine.hold(handedOutCount: 3) && machine.phase == .draining(flying: IndexRuns(0..<3)))
        machine.noteReturned([1..<2])
        #expect(!machine.drain() && !machine.settle(0..<1, .accepted) && !machine.drain())
        machine.reopen(0..<1)
        machine.noteReturned([2..<3])
        #expect(!machine.drain() && machine.phase == .draining(flying: IndexRuns(0..<1)))
        machine.noteReturned([0..<1])
        #expect(machine.drain() && machine.phase == .parking(.operatorRequest))
        #expect(machine.remaining.runs == [0..<4])
    }

    @Test func `a job that is all settled while it drains is done, not held`() throws {
        var machine = sending(1)
        #expect(machine.hold(handedOutCount: 1) && machine.settle(0..<1, .accepted))
        #expect(try conclusion(of: machine).state == .done)
    }

    @Test func `an acceptance by silence can turn out wrong before the job ends`() {
        var machine = sending(10)
        _ = machine.settle(0..<8, .accepted)
        machine.correct(3..<4, refused)
        machine.reopen(4..<8)
        #expect(machine.tally.accepted == 3 && machine.tally.refused == 1 && machine.remaining.runs == [4..<10])
    }

    @Test func `an acceptance by silence can turn out wrong after the job ended`() throws {
        var machine = sending(4)
        _ = machine.settle(0..<4, .accepted)
        _ = machine.conclude(at: endTime)
        let phase = machine.phase
        machine.correct(1..<2, refused)
        #expect(machine.tally.refused == 1)
        machine.reopen(2..<4)
        #expect(machine.remaining.runs == [2..<4])
        #expect(!machine.settle(2..<4, .accepted) && machine.phase == phase)
        #expect(machine.tally.total == 4 && machine.remaining.isEmpty)
    }

    @Test func `a repeated outcome counts once`() {
        var machine = sending(4)
        _ = machine.settle(0..<2, .accepted)
        _ = machine.settle(0..<3, .accepted)
        #expect(machine.tally.accepted == 3)
    }

    @Test func `a job resumes from what the journal knows`() throws {
        var tally = Tally()
        tally.add(.accepted, count: 6)
        var machine = JobMachine(remaining: IndexRuns(6..<8), tally: tally)
        #expect(machine.phase == .sending && machine.settle(6..<8, .accepted))
        let conclusion = try conclusion(of: machine)
        #expect(conclusion.tally.accepted == 8)
        #expect(
            JobMachine(remaining: IndexRuns(), tally: tally).phase == .settled(Conclusion(tally: tally, fault: nil)))
    }

    @Test func `no run of events loses a notification or leaves an archive`() {
        for seed in UInt64(0)..<400 {
            var random = SeededGenerator(seed: seed)
            var machine = sending(20)
            for _ in 0..<40 {
                let before = machine.phase
                happen(to: &machine, &random)
                if case .archived = before { #expect(machine.phase == before, "seed \(seed)") }
                #expect(machine.tally.total + machine.remaining.count == 20, "seed \(seed)")
            }
        }
    }

    private func happen(to machine: inout JobMachine, _ random: inout SeededGenerator) {
        let start = Int.random(in: 0..<20, using: &random)
        let range = start..<Int.random(in: start...20, using: &random)
        if Int.random(in: 0..<3, using: &random) == 0 {
            _ = machine.settle(range, .accepted)
        } else if let event = Event.all.randomElement(using: &random) {
            _ = event.apply(&machine)
        }
    }
}

// MARK: The table

/// One event in the life of a job.
private struct Event: Sendable {
    let name: String
    /// Applies it; returns what its function returns, `nil` if that is nothing.
    let apply: @Sendable (inout JobMachine) -> Bool?

    init(_ name: String, _ apply: @escaping @Sendable (inout JobMachine) -> Bool?) {
        (self.name, self.apply) = (name, apply)
    }

    private init(noting name: String, _ apply: @escaping @Sendable (inout JobMachine) -> Void) {
        self.init(name) { machine in
            apply(&machine)
            return nil
        }
    }

    /// All events. Of three notifications the first has its outcome; the second may be on a connection.
    static let all = [
        Event("settle 1") { $0.settle(1..<2, refused) },
        Event("settle 1, 2") { $0.settle(1..<3, refused) },
        Event(noting: "correct 0") { $0.correct(0..<1, refused) },
        Event(noting: "reopen 0") { $0.reopen(0..<1) },
        Event(noting: "returned 1") { $0.noteReturned([1..<2]) },
        Event("time up") { $0.end(rest: givenUp) },
        Event("unreadable") { $0.end(rest: givenUp, .unreadable) },
        Event("cancel") { $0.end(rest: givenUp, .cancelled, isOrdered: true) },
        Event("hold") { $0.hold(handedOutCount: 2) },
        Event("drain") { $0.drain() },
        Event("changed") { $0.holdChanged() },
        Event(noting: "placed") { if let name { $0.notePlaced(as: name) } },
        Event("conclude") { $0.conclude(at: endTime) },
        Event(noting: "told") { if let end { $0.noteTold(end) } },
        Event(noting: "published") { $0.notePublished() },
        Event(noting: "archived") { $0.noteArchived() },
    ]

    private static let name = FileName("a.json")
    private static let end = try? recorded(Conclusion(tally: Tally(), fault: .cancelled))
}

extension JobMachine.Phase {
    /// The case, with what tells it from others of the same case.
    fileprivate var name: String {
        switch self {
        case .sending: "sending"
        case .draining(let flying): "draining \(flying.count)"
        case .ending(let ending): "ending" + (ending.code.map { ":\($0.rawValue)" } ?? "")
        case .parking(.operatorRequest): "parking"
        case .parking(.changed): "parking:changed"
        case .held: "held"
        case .settled(let conclusion): "settled" + (conclusion.code.map { ":\($0.rawValue)" } ?? "")
        case .concluded: "concluded"
        case .told: "told"
        case .published: "published"
        case .archived: "archived"
        }
    }
}

struct JobMachineTableTests {
    /// The events that lead to each phase, each named as in the table.
    private static let ways: [[String]] = [
        [], ["hold"], ["hold", "returned 1"], ["time up"], ["unreadable"], ["cancel"],
        ["hold", "returned 1", "drain"], ["hold", "returned 1", "drain", "placed"], ["changed"],
        ["settle 1, 2"], ["cancel", "settle 1, 2"], ["settle 1, 2", "conclude"], ["settle 1, 2", "conclude", "told"],
        ["settle 1, 2", "conclude", "told", "published"], ["settle 1, 2", "conclude", "told", "published", "archived"],
    ]

    /// A job after these events.
    private static func machine(after way: [String]) throws -> JobMachine {
        var machine = JobMachine(count: 3, fault: nil)
        _ = machine.settle(0..<1, .accepted)
        for name in way {
            let event = try #require(Event.all.first { $0.name == name })
            _ = event.apply(&machine)
        }
        return machine
    }

    /// The table: a line for each phase and each event that changes it; all other pairs change nothing.
    private static func table() throws -> String {
        var lines: [String] = []
        for way in ways {
            let machine = try machine(after: way)
            for event in Event.all {
                var next = machine
                let result = event.apply(&next)
                let isChanged = next.phase != machine.phase
                if let result, result != isChanged {
                    Issue.record("\(event.name) in \(machine.phase.name): says \(result), leads to \(next.phase.name)")
                }
                if isChanged { lines.append("\(machine.phase.name) | \(event.name) | \(next.phase.name)") }
            }
        }
        return lines.joined(separator: "\n")
    }

    @Test func `what each event does in each phase is in the table`() throws {
        let table = try Self.table()
        #expect(table == expected, "the table is now:\n\(table)")
    }

    private let expected = """
        sending | settle 1, 2 | settled
        sending | time up | ending
        sending | unreadable | ending:unreadable
        sending | cancel | ending:cancelled
        sending | hold | draining 1
        sending | changed | parking:changed
        draining 1 | settle 1, 2 | settled
        draining 1 | reopen 0 | draining 2
        draining 1 | returned 1 | draining 0
        draining 1 | changed | parking:changed
        draining 0 | settle 1, 2 | settled
        draining 0 | reopen 0 | draining 1
        draining 0 | drain | parking
        draining 0 | changed | parking:changed
        ending | settle 1, 2 | settled
        ending | unreadable | ending:unreadable
        ending | cancel | ending:cancelled
        ending | changed | parking:changed
        ending:unreadable | settle 1, 2 | settled:unreadable
        ending:unreadable | changed | parking:changed
        ending:cancelled | settle 1, 2 | settled:cancelled
        ending:cancelled | changed | parking:changed
        parking | placed | held
        settled | conclude | concluded
        settled:cancelled | conclude | concluded
        concluded | told | told
        told | published | published
        published | archived | archived
        """
}
