import APNSBinary
import PushModel
import Testing

/// Silence proves acceptance only from the moment the peer's kernel has the bytes.
struct ConfirmingTests {
    @Test func `a black hole settles nothing, however long it is silent`() throws {
        var rig = Rig(5)
        try rig.write()
        for _ in 0..<100 { #expect(rig.pass(.seconds(3600)).isEmpty) }
        #expect(rig.machine.nextSettlement == nil && rig.machine.isAwaitingAcknowledgement)
        #expect(rig.machine.doubtCount == 5)
    }

    @Test func `what the kernel has is settled after the quiet time and not before`() throws {
        var rig = Rig(5)
        try rig.write()
        rig.pass(.seconds(60))
        rig.acknowledge()
        #expect(rig.machine.nextSettlement == rig.now + .seconds(5))
        #expect(rig.pass(.seconds(5) - .nanoseconds(1)).isEmpty)
        #expect(rig.pass(.nanoseconds(1)).flatMap(\.batch.indices) == Array(0..<5))
        #expect(rig.machine.doubtCount == 0 && rig.machine.nextSettlement == nil)
    }

    @Test func `a partial acknowledgement settles the records that are whole in it`() throws {
        var rig = Rig(9)
        var offsets: [UInt64] = []
        for _ in 0..<3 {
            try rig.write(atMost: 3)
            offsets.append(rig.offset)
        }
        rig.acknowledge(offsets[1] - 1)
        #expect(rig.pass(.seconds(5)).flatMap(\.batch.indices) == [0, 1, 2])
        rig.acknowledge(offsets[1])
        #expect(rig.pass(.seconds(5)).flatMap(\.batch.indices) == [3, 4, 5])
        #expect(rig.pass(.seconds(3600)).isEmpty && rig.machine.doubtCount == 3)
    }

    @Test func `each record has a quiet time of its own`() throws {
        var rig = Rig(4)
        try rig.write(atMost: 2)
        rig.acknowledge()
        rig.pass(.seconds(3))
        try rig.write(atMost: 2)
        rig.acknowledge()
        #expect(rig.pass(.seconds(2)).flatMap(\.batch.indices) == [0, 1])
        #expect(rig.pass(.seconds(3)).flatMap(\.batch.indices) == [2, 3])
    }

    @Test func `an acknowledgement that repeats or recedes changes nothing`() throws {
        var rig = Rig(2)
        try rig.write()
        rig.acknowledge()
        rig.pass(.seconds(4))
        rig.acknowledge()
        rig.acknowledge(0)
        #expect(rig.pass(.seconds(1)).flatMap(\.batch.indices) == [0, 1])
    }

    @Test func `a full window has no room until it is settled`() throws {
        var rig = Rig(10, .init(windowLimit: 4))
        #expect(try rig.write().count == 4)
        #expect(rig.machine.room == 0)
        #expect(try rig.write().isEmpty)
        rig.acknowledge()
        rig.pass(.seconds(5))
        #expect(rig.machine.room == 4)
        #expect(try rig.write().map(\.index) == [4, 5, 6, 7])
    }

    @Test func `where silence proves nothing only the probe settles`() throws {
        var rig = Rig(3, .init(confirmAfter: nil))
        try rig.write()
        rig.acknowledge()
        #expect(rig.pass(.seconds(3600)).isEmpty && rig.machine.nextSettlement == nil)
        let identifier = try rig.writeProbe()
        rig.end(.reply(ErrorReply(status: .missingDeviceToken, identifier: identifier)))
        #expect(rig.accepted == [0, 1, 2])
    }

    @Test func `a connection on which a reply has begun is not silent`() throws {
        var rig = Rig(3)
        try rig.write()
        rig.acknowledge()
        rig.pass(.seconds(4))
        #expect(try rig.receive([8, 8]) == nil)
        #expect(rig.machine.nextSettlement == nil)
        #expect(rig.pass(.seconds(60)).isEmpty)
        let reply = try #require(try rig.receive([0, 0, 0, 1]))
        rig.end(.reply(reply))
        #expect(rig.outcomes(0) == [.rejected(Status.invalidToken.refusal)])
    }

    @Test func `settling ten thousand records keeps nothing back`() throws {
        var rig = Rig(10_000, .init(windowLimit: 300))
        var settled = 0
        while settled < 10_000 {
            try rig.write(atMost: 3)
            rig.acknowledge()
            settled += rig.pass(.seconds(1)).reduce(0) { $0 + $1.batch.count }
        }
        #expect(rig.accepted == Array(0..<10_000) && rig.machine.doubtCount == 0)
    }
}
