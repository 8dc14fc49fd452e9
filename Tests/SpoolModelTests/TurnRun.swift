import PushModel
import SpoolModel
import TestSupport

/// Apps with jobs in all lanes, rates and pauses, that take turns as the daemon has them do; and the plain rules that turns
/// have to keep, whoever gives them.
struct TurnRun {
    private struct App {
        var readable = Scheduler<Int>()
        var bucket: TokenBucket?
        var isPaused = false
        /// By lane: what was read and is not sent, since when a turn is asked for, and whom a turn of the lane went to since.
        var unsent = [0, 0, 0]
        var askedAt: [Int?] = [nil, nil, nil]
        var passedBy: [Set<Int>] = [[], [], []]
        var sentCount = 0
    }

    private struct Job {
        let app: Int
        let lane: Lane
        var left: Int
        /// Whom a turn of the lane went to since its own.
        var passedBy: Set<Int> = []
    }

    private static let start = Moment(nanoseconds: 1_000_000_000_000)
    private static let batch = 16

    private(set) var faults: [String] = []
    private(set) var turnCount = 0
    private var gate = Scheduler<(app: Int, lane: Lane)>()
    private var apps: [App]
    private var jobs: [Int: Job] = [:]
    private var jobCount = 0
    private var now = TurnRun.start
    private var random: SeededGenerator
    private let pauses: Bool

    init(seed: UInt64, pauses: Bool = true) {
        random = SeededGenerator(seed: seed)
        self.pauses = pauses
        apps = Array(repeating: App(), count: Int.random(in: 3...6, using: &random))
        guard pauses else { return }
        for app in apps.indices where Bool.random(using: &random) {
            configure(app, rate: Rate(Int.random(in: 1...5000, using: &random)))
        }
    }

    /// How long it has run.
    var time: Duration { now - Self.start }

    func sent(by app: Int) -> Int { apps[app].sentCount }

    mutating func configure(_ app: Int, rate: Rate?) {
        apps[app].bucket = rate.map { TokenBucket($0, emptyAt: now) }
    }

    mutating func add(to app: Int, _ lane: Lane, count: Int) {
        let number = jobCount
        jobCount += 1
        jobs[number] = Job(app: app, lane: lane, left: count)
        apps[app].readable.ask(number, in: lane)
    }

    /// A millisecond passes, things happen, and a turn is given.
    mutating func step() {
        now = now + .milliseconds(1)
        if pauses { disturb() }
        for app in apps.indices { send(app) }
        for app in apps.indices { askAll(app) }
        giveTurn()
    }

    private mutating func disturb() {
        let app = Int.random(in: apps.indices, using: &random)
        switch Int.random(in: 0..<16, using: &random) {
        case 0...1:
            let lane = Lane.allCases.randomElement(using: &random) ?? .normal
            add(to: app, lane, count: Int.random(in: 1...100, using: &random))
        case 3: apps[app].isPaused.toggle()
        default: break
        }
    }

    /// Sends what was read, as far as pause and rate let it, lane by lane.
    private mutating func send(_ app: Int) {
        guard !apps[app].isPaused else { return }
        var room = apps[app].bucket?.available(at: now) ?? .max
        for rank in 0..<3 {
            let count = min(room, apps[app].unsent[rank])
            apps[app].unsent[rank] -= count
            apps[app].sentCount += count
            apps[app].bucket?.record(count, at: now)
            room -= count
        }
        guard let rate = apps[app].bucket?.rate else { return }
        let most = Double(rate.burst) + Double(rate.count) * (time / rate.unit.duration)
        if Double(apps[app].sentCount) > most { faults.append("app \(app) exceeds its rate") }
    }

    /// An app asks for each lane in which it has something to read, and nothing unsent.
    private mutating func askAll(_ app: Int) {
        for lane in Lane.allCases where apps[app].askedAt[lane.rank] == nil {
            guard apps[app].unsent[lane.rank] == 0, !apps[app].readable.isEmpty(lane) else { continue }
            gate.ask((app, lane), in: lane)
            apps[app].askedAt[lane.rank] = turnCount
            apps[app].passedBy[lane.rank] = []
        }
    }

    private mutating func giveTurn() {
        guard let turn = gate.next() else {
            if apps.contains(where: { $0.askedAt.contains { $0 != nil } }) { faults.append("somebody could go") }
            return
        }
        turnCount += 1
        let rank = turn.lane.rank
        guard let askedAt = apps[turn.app].askedAt[rank] else { return faults.append("a turn nobody asked for") }
        // A lane gets one turn in eleven, and every other app may have been before.
        if turnCount - askedAt > 11 * (apps.count + 1) {
            faults.append("app \(turn.app) waited \(turnCount - askedAt)")
        }
        apps[turn.app].askedAt[rank] = nil
        for other in apps.indices where apps[other].askedAt[rank] != nil {
            if !apps[other].passedBy[rank].insert(turn.app).inserted {
                faults.append("app \(turn.app) goes twice before \(other)")
            }
        }
        read(turn.app, turn.lane)
    }

    private mutating func read(_ app: Int, _ lane: Lane) {
        guard let number = apps[app].readable.next(of: LaneSet(lane)), var job = jobs[number] else {
            return faults.append("a turn for nothing")
        }
        let count = min(Self.batch, job.left)
        (job.left, job.passedBy) = (job.left - count, [])
        jobs[number] = job.left > 0 ? job : nil
        for (other, waiting) in jobs
        where (waiting.app, waiting.lane) == (app, lane) && other != number {
            if jobs[other]?.passedBy.insert(number).inserted == false {
                faults.append("job \(number) goes twice before \(other)")
            }
        }
        apps[app].unsent[lane.rank] += count
        if job.left > 0 { apps[app].readable.ask(number, in: lane) }
    }
}
