import APNSHTTP2
import APNSModel
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
