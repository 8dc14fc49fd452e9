import APNSGateway
import Testing

@testable import PushDaemon

/// Apps that the gateway lets in no more, and what they ask with when it may have changed its mind.
@Suite struct StoppedAppTests {
    @Test func `a stop that is told before another configuration does not outlast it`() {
        var standing = Standing.sending
        standing.note(.stopped(.init("refused")))
        #expect(standing == .stopped)
        standing.note(.trying)
        #expect(standing == .asking)
        standing.note(.resumed)
        #expect(standing == .sending)
    }
}
