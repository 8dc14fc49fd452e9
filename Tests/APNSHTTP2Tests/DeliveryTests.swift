import APNSHTTP2
import PushHTTP2
import PushModel
import Testing

/// Which requests the gateway cannot have whole when their answers stay away or the connection ends: those are not in
/// doubt.
struct DeliveryTests {
    private static let late = Moment.zero + .seconds(31)
    private static let cancel: [UInt8] = [0, 0, 0, 8]

    @Test func `an overdue request that the kernel has is in doubt`() {
        var rig = SessionRig()
        rig.write(Work.batch(0..<3))
        let news = rig.tick(at: Self.late, handedOver: rig.written)
        #expect(news.doubtful.flatMap(\.indices) == [0, 1, 2] && news.returned.isEmpty)
        let (isStuck, isOverdue) = (rig.client.isStuck, rig.client.isOverdue)
        #expect(!isStuck && isOverdue)
    }

    @Test func `a program that was stopped gives answers their time anew`() {
        var rig = SessionRig()
        rig.write(Work.batch(0..<3))
        // Stopped for two minutes before what was written went to the kernel.
        let back = Moment.zero + .seconds(120)
        rig.client.look(at: back)
        #expect(rig.tick(at: back, handedOver: 0).isEmpty)
        // The gateway lives, and says so when it is asked.
        for (second, count) in zip([11, 22, 29], UInt8(1)...3) {
            let pong: [UInt8] = [0, 0, 8, 6, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, count]
            _ = rig.hear(pong, at: back + .seconds(second - 9))
            rig.client.look(at: back + .seconds(second))
            #expect(rig.tick(at: back + .seconds(second), handedOver: rig.written).isEmpty)
        }
        rig.client.look(at: back + .seconds(30))
        let news = rig.tick(at: back + .seconds(30), handedOver: rig.written)
        #expect(news.doubtful.flatMap(\.indices) == [0, 1, 2])
    }

    @Test(arguments: [(999, true), (1001, false)])
    func `a look that is a second late is a standstill`(lateness: Int, isDead: Bool) {
        var rig = SessionRig()
        rig.write(Work.batch(0..<3))
        // Asks whether the gateway lives.
        let asked = Moment.zero + .seconds(10)
        rig.client.look(at: asked)
        #expect(rig.tick(at: asked, handedOver: rig.written).isEmpty && !rig.output.isEmpty)
        let looked = asked + .seconds(10) + .milliseconds(lateness)
        rig.client.look(at: looked)
        let found = rig.client.isDead(at: looked)
        #expect(found == isDead)
    }

    @Test func `an overdue request that the kernel never took is not, if the connection is cut now`() {
        var rig = SessionRig()
        rig.write(Work.batch(0..<2))
        let handedOver = rig.written
        rig.write(Work.batch(2..<5))
        let news = rig.tick(at: Self.late, handedOver: rig.written - 1)
        #expect(news.doubtful.flatMap(\.indices) == [0, 1] && handedOver < rig.written - 1)
        #expect(news.returned.flatMap(\.indices) == [2, 3, 4])
        let isStuck = rig.client.isStuck
        #expect(isStuck)
    }

    @Test(arguments: [0, -1])
    func `a connection is cut if an overdue request may still reach the gateway`(missing: Int) {
        var rig = SessionRig()
        rig.write(Work.batch(0..<2))
        let overdue = rig.written
        // Not overdue, and on the way: that alone is no reason.
        rig.write(Work.batch(2..<5), at: .zero + .seconds(9), handedOver: overdue)
        let news = rig.tick(at: Self.late, handedOver: rig.written, acknowledged: overdue + missing)
        #expect(news.doubtful.flatMap(\.indices) == [0, 1])
        let (isStuck, doubtCount) = (rig.client.isStuck, rig.client.doubtCount)
        #expect(isStuck == (missing < 0) && doubtCount == 3)
    }

    @Test(arguments: [(1, false), (0, true)])
    func `a connection is cut if an overdue request's body may still reach the gateway`(got: Int, isCut: Bool) {
        var rig = SessionRig(streamWindow: 1)
        rig.write(Work.batch(0..<1))
        let heads = rig.written
        _ = rig.hear(SessionRig.frame(8, stream: 1, [0, 0, 0, 9]))
        let news = rig.tick(at: Self.late, handedOver: rig.written, acknowledged: heads + got)
        #expect(news.doubtful.flatMap(\.indices) == [0])
        let isStuck = rig.client.isStuck
        #expect(isStuck == isCut)
    }

    @Test func `an overdue request whose body waits for a window is not in doubt, though its head has left`() {
        var rig = SessionRig(streamWindow: 1)
        rig.write(Work.batch(0..<2))
        let news = rig.tick(at: Self.late, handedOver: rig.written)
        #expect(news.returned.flatMap(\.indices) == [0, 1] && news.doubtful.isEmpty)
        // Nothing of it will follow: its stream is given up.
        let isStuck = rig.client.isStuck
        #expect(!isStuck && rig.output.count == 2 * 13)
    }

    @Test func `the end of a connection leaves in doubt only what had left whole`() {
        var rig = SessionRig(streamWindow: 1)
        rig.write(Work.batch(0..<3))
        _ = rig.hear(SessionRig.frame(8, stream: 3, [0, 0, 0, 9]))
        let news = rig.client.end(handedOver: rig.written)
        #expect(news.doubtful.flatMap(\.indices) == [1])
        #expect(news.returned.flatMap(\.indices) == [0, 2])
    }

    @Test func `the end of a body that the kernel never took is as good as none`() {
        var rig = SessionRig(streamWindow: 1)
        rig.write(Work.batch(0..<1))
        let heads = rig.written
        _ = rig.hear(SessionRig.frame(8, stream: 1, [0, 0, 0, 9]))
        #expect(rig.written > heads)
        let news = rig.client.end(handedOver: heads)
        #expect(news.returned.flatMap(\.indices) == [0] && news.doubtful.isEmpty)
    }

    @Test func `a stream that is reset before its body was written is not in doubt`() {
        var rig = SessionRig(streamWindow: 1)
        rig.write(Work.batch(0..<2))
        _ = rig.hear(SessionRig.frame(8, stream: 1, [0, 0, 0, 9]))
        let whole = rig.hear(SessionRig.frame(3, stream: 1, Self.cancel))
        #expect(whole.doubtful.flatMap(\.indices) == [0] && whole.returned.isEmpty)
        let half = rig.hear(SessionRig.frame(3, stream: 3, Self.cancel))
        #expect(half.returned.flatMap(\.indices) == [1] && half.doubtful.isEmpty)
    }
}
