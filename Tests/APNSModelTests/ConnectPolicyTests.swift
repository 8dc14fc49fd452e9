import APNSModel
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

    @Test(arguments: [ConnectPolicy.Cause.serverError, .unreachable, .refused])
    func `any other end pauses from the first time on`(cause: ConnectPolicy.Cause) throws {
        var policy = ConnectPolicy()
        let pause = try #require(pauses([cause], &policy)[0])
        #expect((.milliseconds(500) ... .seconds(1)).contains(pause))
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
