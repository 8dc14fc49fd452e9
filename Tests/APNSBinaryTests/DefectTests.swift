import APNSBinary
import APNSModel
import PushModel
import Testing

/// What went wrong in the senders before us, each named by its thread or its code.
struct DefectTests {
    /// A gateway that refuses some notifications by name and throws away what is behind them, until all is settled.
    private func send(_ count: Int, refusing bad: Set<Int>) throws -> (rig: Rig, accepted: [Int]) {
        var (rig, accepted): (Rig, [Int]) = (Rig(count), [])
        while rig.queue.count > 0 {
            let written = try rig.write().map(\.index)
            let refused = written.firstIndex { bad.contains($0) }
            accepted += written[..<(refused ?? written.endIndex)]
            rig.acknowledge()
            if let refused { try rig.reply(.invalidToken, naming: written[refused]) } else { rig.pass(.seconds(5)) }
        }
        return (rig, accepted)
    }

    @Test func `node-apn 149, an empty token that is answered with identifier 0 does not start a storm`() throws {
        var rig = Rig(200)
        for _ in 0..<1000 where rig.queue.count > 0 || rig.machine.doubtCount > 0 {
            let hasEmptyToken = try rig.write().contains { $0.index == 5 }
            rig.acknowledge()
            if hasEmptyToken { rig.end(.reply(ErrorReply(status: .missingDeviceToken, identifier: 0))) }
            rig.pass(.seconds(5))
        }
        #expect(rig.outcomes(5) == [.rejected(Status.missingDeviceToken.refusal)])
        #expect(rig.accepted.count == 199)
        #expect(rig.writeCounts.values.allSatisfy { $0 <= 6 })
        #expect(rig.wire.count < 450)
    }

    @Test func `rpush 331, good ones go again only when a refusal threw them away, and are accepted once`() throws {
        let bad: Set = [10, 20, 30, 40]
        let (rig, accepted) = try send(50, refusing: bad)
        #expect(accepted == (0..<50).filter { !bad.contains($0) })
        for index in 0..<50 {
            let refusalsBefore = bad.filter { $0 < index }.count
            #expect(rig.writeCounts[Name(job: 1, index: index)] == refusalsBefore + 1)
        }
    }

    @Test func `apns-client, a failed write loses no token, not even the only one`() throws {
        var rig = Rig(3)
        try rig.write(atMost: 1)
        try rig.write(atMost: 1)
        rig.end(.silent(handedOver: rig.offset - 1))
        #expect(try rig.write().map(\.index) == [0, 1, 2])
        var lone = Rig(1)
        try lone.write()
        lone.end(.silent(handedOver: 0))
        #expect(try lone.write().map(\.index) == [0])
    }

    @Test func `PyAPNs, an end of the stream drops nothing`() throws {
        var rig = Rig(1000)
        try rig.write()
        rig.end(.silent(handedOver: rig.offset))
        #expect(try rig.write().count == 1000)
    }

    @Test func `PyAPNs, what is sent again keeps priority and expiration`() throws {
        let attributes = Attributes(priority: .powerSaving, expiration: Expiration(epochSeconds: 1_700_000_000))
        var (queue, machine) = (SendQueue(), PipelineMachine(options: .init()))
        queue.append(.named(0..<3, attributes: attributes))
        for _ in 0..<2 {
            var bytes: [UInt8] = []
            var batch = try queue.some(atMost: .max)
            machine.write(&batch, to: &bytes)
            let sent = try frames(of: bytes)
            #expect(sent.allSatisfy { $0.frame.priority == 5 && $0.frame.expiry == 1_700_000_000 })
            _ = queue.apply(machine.end(.silent(handedOver: 0)), at: .zero) { _ in .zero }
        }
    }

    @Test func `pyapns, names stay unique past the 65,536th`() throws {
        var rig = Rig(65_540)
        try rig.write()
        #expect(Set(rig.identifiers.values).count == 65_540)
    }

    @Test func `java-apns and rpush, the one named by a shutdown has not failed`() throws {
        var rig = Rig(3)
        try rig.write()
        try rig.reply(.shutdown, naming: 1)
        #expect(rig.outcomes(1) == [.accepted])
        #expect(rig.writeCounts[Name(job: 1, index: 1)] == 1)
    }

    @Test func `java-apns and rpush, status 255 is known for what it is`() throws {
        let reply = try #require(try ErrorReply([8, 255, 0, 0, 0, 1]))
        #expect(reply.status == .unknown && reply.status.allowsAnotherTry)
    }

    @Test func `PyAPNs, a name that is not in the buffer stops nothing`() throws {
        var rig = Rig(3)
        try rig.write()
        rig.end(.reply(ErrorReply(status: .processingError, identifier: 4_000_000_000)))
        #expect(try rig.write().map(\.index) == [0])
    }
}
