import APNSModel
import HTTP2
import Testing

@testable import APNSHTTP2

struct SessionMachineTests {
    @Test func `a gateway that never says what it allows is given up`() {
        var options = SessionMachine.Options(sender: RequestFields.Sender(authority: "localhost"))
        options.timeouts.ready = .seconds(3)
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

    @Test func `a gateway that asks without a pause is left`() {
        var rig = SessionRig()
        let start = Moment.zero + .seconds(86_400)
        let pings = (0...10_000).map { rig.hear(SessionRig.ping, at: start + .milliseconds($0)) }
        #expect(pings.filter { $0.fault != nil }.count == 1 && pings.last?.fault?.code == .enhanceYourCalm)
    }
}
