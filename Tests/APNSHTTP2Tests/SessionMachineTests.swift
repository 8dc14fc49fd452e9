import APNSHTTP2
import HTTP2
import PushModel
import Testing

@testable import PushHTTP2

struct SessionMachineTests {
    @Test func `a gateway that never says what it allows is given up`() {
        var options = SessionOptions(APNSDialect(sender: RequestFields.Sender(authority: "localhost")))
        options.timeouts.gateway.connect = .seconds(3)
        let machine = SessionMachine(options, at: .zero)
        let (look, early, late) = (
            machine.nextLook, machine.isDead(at: .zero + .seconds(2)), machine.isDead(at: .zero + .seconds(3))
        )
        #expect(look == .zero + .seconds(3))
        #expect(!early && late)
    }

    @Test func `a gateway that asks each half minute whether we live may do so for a month`() {
        var rig = SessionRig()
        let pings = (1...30 * 24 * 120).map { rig.hear(SessionRig.ping, at: .zero + .seconds(30 * $0)) }
        #expect(pings.allSatisfy { $0.fault == nil })
    }

    @Test(arguments: [(0, true), (1, false), (1199, false), (1200, true), (3000, true)])
    func `a connection changes its token only when the gateway has seen the last one for 20 minutes`(
        seconds: Int, changes: Bool
    ) {
        var rig = SessionRig()
        // Without a request, the gateway has seen none.
        if seconds > 0 { rig.write(Work.batch(0..<1)) }
        let hasChanged = rig.client.authorize("bearer other", at: .zero + .seconds(seconds))
        #expect(hasChanged == changes && rig.client.isRetired == !changes)
    }

    @Test func `a gateway that asks without a pause is left`() {
        var rig = SessionRig()
        let start = Moment.zero + .seconds(86_400)
        let pings = (0...10_000).map { rig.hear(SessionRig.ping, at: start + .milliseconds($0)) }
        #expect(pings.filter { $0.fault != nil }.count == 1 && pings.last?.fault?.code == .enhanceYourCalm)
    }

    /// The answer to the n-th request: a head without a body.
    private static func answer(_ number: Int, isAcceptance: Bool) -> [UInt8] {
        [0, 0, 1, 1, 5, 0, 0, 0, UInt8(2 * number + 1), isAcceptance ? 0x88 : 0x8E]
    }

    /// Whether each of the answers is an acceptance or a 500, and whether the connection counts as failing then.
    @Test(arguments: [
        (String(repeating: "5", count: 9), false), (String(repeating: "5", count: 10), true),
        ("555555555255555555", false), ("2225555555555", true), ("55555555552222", false),
    ])
    func `a connection that answers 5xx ten times in a row is failing until it accepts`(
        answers: String, isFailing: Bool
    ) {
        var rig = SessionRig()
        rig.write(Work.batch(0..<20))
        var accepted: [Int] = []
        for (number, digit) in answers.enumerated() {
            let news = rig.hear(Self.answer(number, isAcceptance: digit == "2"))
            accepted += news.accepted.flatMap(\.indices)
        }
        #expect(rig.client.isFailing == isFailing && !rig.client.isRetired)
        #expect(accepted.count == answers.count { $0 == "2" } && rig.client.doubtCount == 20 - answers.count)
    }
}
