import Gateways
import PushModel
import Testing

/// What an app knows of its gateway, from the gateway's events.
@Suite struct AcceptanceTests {
    private var answer: GatewayEvent {
        var tokens = PackedBytes()
        tokens.append([1])
        let header = Batch.Header(job: JobID(bits: 1), attributes: Attributes())
        let batch = Batch(header: header, firstIndex: 0, addresses: tokens, payloads: .shared(Payload(bytes: [2])))
        return GatewayEvent.settled([Settlement(batch, .accepted)])
    }

    @Test func `an answer that is long away is told from one that is not`() {
        var acceptance = Acceptance()
        let start = WallTime(epochSeconds: 1_795_310_400)
        func silence(after seconds: Int) -> WallTime? { acceptance.silentSince(at: start + .seconds(seconds)) }
        #expect(silence(after: 100) == nil)
        acceptance.note(inFlight: 1, at: start)
        acceptance.note(inFlight: 2, at: start + .seconds(9))
        #expect(silence(after: 9) == nil && silence(after: 10) == start)
        acceptance.note(answer, at: start + .seconds(12))
        #expect(silence(after: 21) == nil && silence(after: 22) == start + .seconds(12))
        acceptance.note(inFlight: 0, at: start + .seconds(30))
        #expect(silence(after: 60) == nil)
        acceptance.note(inFlight: 1, at: start + .seconds(70))
        #expect(silence(after: 79) == nil && silence(after: 80) == start + .seconds(70))
    }

    @Test func `answers to earlier requests do not end the hold of an app`() {
        var acceptance = Acceptance()
        let now = WallTime(epochSeconds: 1_795_000_000)
        acceptance.note(.troubled(GatewayFault("quota"), pause: .seconds(60)), at: now)
        #expect(acceptance.trouble?.words == "cannot send: quota" && acceptance.trouble?.nextTry == now + .seconds(60))
        acceptance.note(answer, at: now + .seconds(59))
        #expect(acceptance.trouble?.kind == .refused)
        acceptance.note(answer, at: now + .seconds(60))
        #expect(acceptance.trouble == nil)
    }

    @Test func `a stop that is told before another configuration does not outlast it`() {
        var acceptance = Acceptance()
        let (now, hour) = (WallTime(epochSeconds: 1_795_000_000), Duration.seconds(3600))
        let stop = IdentityTrial.Stop(pause: hour, othersPause: nil)
        acceptance.note(.stopped(GatewayFault("refused"), stop), at: now)
        #expect(acceptance.phase == .stopped(asksOthers: false) && acceptance.trouble?.nextTry == now + hour)
        acceptance.note(.troubled(GatewayFault("failing"), pause: nil), at: now)
        #expect(acceptance.trouble?.words == "is stopped: refused")
        acceptance.note(.trying, at: now)
        #expect(acceptance.phase == .asking(hasFreed: false) && acceptance.trouble?.kind == .stop)
        acceptance.note(.resumed, at: now)
        #expect(acceptance.phase == .open && acceptance.trouble == nil)
    }
}
