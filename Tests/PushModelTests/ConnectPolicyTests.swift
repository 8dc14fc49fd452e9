import PushModel
import TestSupport
import Testing

struct ConnectPolicyTests {
    private func pauses(_ causes: [ConnectPolicy.Cause], _ policy: inout ConnectPolicy) -> [Duration?] {
        var random = SeededGenerator(seed: 1)
        return causes.map { cause in
            guard case .connect(let pause) = policy.ended(cause, using: &random) else { return nil }
            return pause
        }
    }

    @Test func `a gateway that answers is called again at once, as often as it answers`() {
        var policy = ConnectPolicy()
        #expect(pauses(Array(repeating: .answered, count: 50), &policy).allSatisfy { $0 == .zero })
    }

    @Test func `the first loss costs no pause and the next ones more and more`() throws {
        var policy = ConnectPolicy()
        let pauses = pauses([.lost, .lost, .lost, .lost], &policy)
        let bounds: [ClosedRange<Duration>] = [
            .zero ... .zero, .seconds(1) ... .seconds(2), .seconds(2) ... .seconds(4), .seconds(4) ... .seconds(8),
        ]
        for (pause, bound) in zip(pauses, bounds) { #expect(bound.contains(try #require(pause))) }
    }

    @Test(arguments: [ConnectPolicy.Cause.unreachable, .refused])
    func `any other end pauses from the first time on`(cause: ConnectPolicy.Cause) throws {
        var policy = ConnectPolicy()
        let pause = try #require(pauses([cause], &policy)[0])
        #expect((.milliseconds(500) ... .seconds(1)).contains(pause))
    }

    @Test func `a few failures to process a notification cost no pause, very many ever more`() throws {
        var policy = ConnectPolicy()
        let many = pauses(Array(repeating: .serverError, count: 100), &policy)
        #expect(many[..<9].allSatisfy { $0 == .zero })
        // The jobs behind thirty bad ones wait less than a minute.
        #expect(many[..<30].reduce(.zero) { $0 + ($1 ?? .zero) } <= .seconds(34))
        #expect(try #require(many[99]) >= .seconds(30))
        policy.accepted()
        #expect(pauses([.serverError], &policy) == [.zero])
    }

    @Test func `pauses end at the ceiling and never stop an unreachable gateway's app`() throws {
        var policy = ConnectPolicy()
        let pauses = pauses(Array(repeating: .unreachable, count: 200), &policy)
        for pause in pauses { #expect(try #require(pause) <= .seconds(60)) }
        #expect(try #require(pauses[199]) >= .seconds(30))
    }

    @Test func `ten refusals stop the app and the tenth only`() {
        var policy = ConnectPolicy()
        let pauses = pauses(Array(repeating: .refused, count: 10), &policy)
        #expect(pauses[..<9].allSatisfy { $0 != nil } && pauses[9] == nil)
    }

    @Test func `other ends between refusals do not clear them, an acceptance does`() {
        var policy = ConnectPolicy()
        #expect(!pauses(Array(repeating: .refused, count: 9) + [.unreachable, .lost], &policy).contains(nil))
        #expect(pauses([.refused], &policy) == [nil])
        policy.accepted()
        #expect(!pauses(Array(repeating: .refused, count: 9), &policy).contains(nil))
    }

    @Test func `a connection that accepts nothing does not shorten the pauses`() throws {
        var policy = ConnectPolicy()
        let pauses = pauses([.unreachable, .unreachable, .unreachable, .answered, .unreachable], &policy)
        #expect(try #require(pauses[4]) >= .seconds(4))
    }
}

/// What follows from refusals that blame the app.
struct IdentityTrialTests {
    private var random = SeededGenerator(seed: 1)
    private var trial = IdentityTrial(ceiling: .seconds(4 * 3600))

    private func moment(_ seconds: Int) -> Moment { .zero + .seconds(seconds) }

    private mutating func refuse(_ job: UInt64, hasOthers: Bool, at second: Int = 0) -> IdentityTrial.Stop? {
        trial.refused(JobID(bits: UInt128(job)))
        return trial.judge(hasOthers: hasOthers, at: moment(second), using: &random)
    }

    @Test mutating func `one job never stops an app that has others`() {
        for second in 0..<1000 {
            let stop = refuse(1, hasOthers: true, at: second)
            #expect(stop == nil)
        }
    }

    @Test mutating func `credentials that were never accepted stop the app for the ceiling`() {
        let stop = refuse(1, hasOthers: false)
        #expect(stop == IdentityTrial.Stop(pause: .seconds(4 * 3600), othersPause: .zero))
    }

    @Test mutating func `the third job stops the app whatever waits, and others are asked with after a growing pause`()
        throws
    {
        let before = (1...2).map { refuse($0, hasOthers: true) }
        #expect(before == [nil, nil])
        for (round, longest) in [2, 4, 8, 16, 32, 60, 60, 60].enumerated() {
            let judgement = refuse(UInt64(3 + round), hasOthers: true)
            let stop = try #require(judgement)
            let othersPause = try #require(stop.othersPause)
            #expect(stop.pause == .seconds(4 * 3600))
            #expect(othersPause >= .seconds(longest) / 2 && othersPause <= .seconds(longest), "\(round)")
        }
        trial.accepted(at: .zero)
        let stops = (1...3).map { refuse($0, hasOthers: true) }
        let othersPause = try #require(stops[2]?.othersPause)
        #expect(othersPause <= .seconds(2))
    }

    @Test mutating func `an acceptance before a restart counts as one since`() throws {
        for (acceptedAt, isRemembered) in [(-60, true), (-86_399, true), (-86_400, false)] {
            trial = IdentityTrial(ceiling: .seconds(4 * 3600), acceptedAt: moment(acceptedAt))
            let first = refuse(1, hasOthers: false)
            #expect((first == nil) == isRemembered, "\(acceptedAt)")
            for job in 2...3 { _ = refuse(UInt64(job), hasOthers: true) }
            let judgement = refuse(4, hasOthers: true)
            let stop = try #require(judgement)
            #expect((stop.pause <= .seconds(4)) == isRemembered, "\(acceptedAt)")
        }
    }

    @Test mutating func `an acceptance in between begins a new row`() {
        _ = refuse(1, hasOthers: true)
        _ = refuse(2, hasOthers: true)
        trial.accepted(at: .zero)
        let stops = (1...2).map { refuse($0, hasOthers: true) }
        #expect(stops == [nil, nil])
    }

    @Test mutating func `after a recent acceptance the last job left may ask twice more, and then the pauses grow`()
        throws
    {
        trial.accepted(at: .zero)
        var stops: [IdentityTrial.Stop?] = []
        for _ in 0..<20 { stops.append(refuse(1, hasOthers: false, at: 60)) }
        #expect(stops[0] == nil && stops[1] == nil)
        for (round, stop) in stops.dropFirst(2).enumerated() {
            let pause = try #require(stop).pause
            let longest = min(2 << round, 4 * 3600)
            #expect(pause >= .seconds(longest) / 2 && pause <= .seconds(longest), "\(round)")
        }
    }

    @Test mutating func `an acceptance of long ago counts as none`() {
        trial.accepted(at: .zero)
        let stop = refuse(1, hasOthers: false, at: 86_400)
        #expect(stop?.pause == .seconds(4 * 3600))
    }

    @Test mutating func `a refusal is judged when the last answer is there, and once`() {
        var stop = refuse(1, hasOthers: true)
        #expect(stop == nil)
        stop = trial.judge(hasOthers: false, at: .zero, using: &random)
        #expect(stop != nil)
        stop = trial.judge(hasOthers: false, at: .zero, using: &random)
        #expect(stop == nil)
    }

    @Test mutating func `a job that has ended does not count`() {
        for job in 1...2 { _ = refuse(UInt64(job), hasOthers: true) }
        let (first, again) = (trial.forget(JobID(bits: 1)), trial.forget(JobID(bits: 1)))
        #expect(first && !again)
        let stop = refuse(3, hasOthers: true)
        #expect(stop == nil)
    }

    @Test(arguments: [1, 300, 3600])
    mutating func `no pause exceeds the ceiling`(seconds: Int) throws {
        trial = IdentityTrial(ceiling: .seconds(seconds))
        trial.accepted(at: .zero)
        for _ in 0..<30 {
            let stop = trial.stop(at: .zero, using: &random)
            #expect(stop.pause <= .seconds(seconds) && stop.othersPause == nil)
        }
    }

    @Test func `an app whose credentials were accepted lately asks with others every few seconds`() throws {
        var (trial, random) = (IdentityTrial(ceiling: .seconds(4 * 3600)), SeededGenerator(seed: 1))
        trial.accepted(at: .zero)
        for job in 1...20 {
            trial.refused(JobID(bits: UInt128(job)))
            guard job >= IdentityTrial.refusalLimit else { continue }
            let stop = try #require(trial.judge(hasOthers: true, at: .zero + .seconds(60), using: &random))
            #expect(try #require(stop.othersPause) <= .seconds(8))
        }
    }
}
