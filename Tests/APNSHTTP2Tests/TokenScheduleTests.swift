import APNSHTTP2
import PushModel
import TestSupport
import Testing

struct TokenScheduleTests {
    private let start: Int64 = 1_700_000_000

    private func schedule(seed: UInt64 = 1, isReplacement: Bool = false) -> TokenSchedule {
        var random = SeededGenerator(seed: seed)
        return TokenSchedule(issuedAt: start, isReplacement: isReplacement, using: &random)
    }

    private func at(minutes: Int64) -> WallTime { WallTime(epochSeconds: start + minutes * 60) }

    @Test func `a token is renewed 40 to 50 minutes after its signing`() {
        let times = (0..<200).map { schedule(seed: $0).renewsAt - start }
        #expect(times.allSatisfy { (2400...3000).contains($0) } && Set(times).count > 100)
    }

    @Test func `a token is current, then due, then expired`() {
        let schedule = schedule()
        #expect(schedule.state(at: at(minutes: 0)) == .current && schedule.state(at: at(minutes: 39)) == .current)
        #expect(schedule.state(at: WallTime(epochSeconds: schedule.renewsAt - 1)) == .current)
        #expect(schedule.state(at: WallTime(epochSeconds: schedule.renewsAt)) == .due)
        #expect(schedule.state(at: at(minutes: 59)) == .due && schedule.state(at: at(minutes: 60)) == .expired)
    }

    @Test func `a clock that is set back makes a token one of the future`() {
        #expect(schedule().state(at: at(minutes: -1)) == .current)
        #expect(schedule().state(at: at(minutes: -2)) == .fromFuture)
        var random = SeededGenerator(seed: 1)
        for issuedAt in [Int64.min, .max] {
            let absurd = TokenSchedule(issuedAt: issuedAt, using: &random)
            #expect(absurd.state(at: at(minutes: 0)) != .current)
        }
    }

    @Test func `a gateway that calls a token expired is believed once in 20 minutes`() {
        #expect(schedule().allowsReplacement(at: at(minutes: 0)))
        let replacement = schedule(isReplacement: true)
        #expect(
            !replacement.allowsReplacement(at: at(minutes: 0)) && !replacement.allowsReplacement(at: at(minutes: 19)))
        #expect(replacement.allowsReplacement(at: at(minutes: 20)))
    }
}
