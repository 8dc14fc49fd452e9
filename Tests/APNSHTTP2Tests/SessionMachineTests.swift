import APNSModel
import Testing

@testable import APNSHTTP2

struct SessionMachineTests {
    @Test func `a gateway that never says what it allows is given up`() {
        var options = SessionMachine.Options(sender: RequestFields.Sender(authority: "localhost"))
        options.readyTimeout = .seconds(3)
        let machine = SessionMachine(options, at: .zero)
        let (look, early, late) = (
            machine.nextLook, machine.isDead(at: .zero + .seconds(2)), machine.isDead(at: .zero + .seconds(3))
        )
        #expect(look == .zero + .seconds(3))
        #expect(!early && late)
    }
}
