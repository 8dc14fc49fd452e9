import PushModel
import TestSupport
import Testing

struct LaneTurnsTests {
    @Test func `the first lane that waits goes next`() {
        let turns = LaneTurns()
        #expect(turns.next(of: .all)?.lane == .urgent)
        #expect(turns.next(of: [LaneSet(.normal), LaneSet(.bulk)])?.lane == .normal)
        #expect(turns.next(of: LaneSet(.bulk))?.limit == .max)
        #expect(turns.next(of: []) == nil)
    }

    @Test func `a lane that waits is owed one for every eight, and goes first then`() {
        var turns = LaneTurns()
        let both: LaneSet = [LaneSet(.urgent), LaneSet(.bulk)]
        turns.took(7, .urgent, of: both)
        #expect(turns.next(of: both)?.lane == .urgent)
        turns.took(9, .urgent, of: both)
        #expect(turns.next(of: both)?.lane == .bulk && turns.next(of: both)?.limit == 2)
        turns.took(2, .bulk, of: both)
        #expect(turns.next(of: both)?.lane == .urgent)
    }

    @Test func `who does not wait is owed nothing`() {
        var turns = LaneTurns()
        turns.took(100, .urgent, of: .all)
        turns.took(1, .urgent, of: LaneSet(.urgent))
        #expect(turns.next(of: .all)?.lane == .urgent)
    }

    @Test func `whatever is taken, a lane that waits gets its share and not more`() {
        for seed in UInt64(0)..<300 {
            var random = SeededGenerator(seed: seed)
            var turns = LaneTurns()
            var taken = [0, 0, 0]
            for _ in 0..<3000 {
                guard let turn = turns.next(of: .all) else { break }
                let count = min(turn.limit, Int.random(in: 1...1024, using: &random))
                turns.took(count, turn.lane, of: .all)
                taken[turn.lane.rank] += count
            }
            let all = taken.reduce(0, +)
            // What one turn too many may make of it.
            for lane in [Lane.normal, .bulk] {
                #expect((taken[lane.rank] + 1024) * 11 >= all, "seed \(seed): \(taken)")
                #expect((taken[lane.rank] - 1024) * 8 <= all, "seed \(seed): \(taken)")
            }
        }
    }
}
