import APNSBinary
import PushModel
import Testing

/// The rows of "Resending the tail" in the protocol's description, one test each.
struct ResendTests {
    @Test func `a named refusal rejects the named one and sends the later ones again`() throws {
        var rig = Rig(6)
        try rig.write()
        let resolution = try rig.reply(.invalidToken, naming: 2)
        #expect(rig.accepted == [0, 1])
        #expect(rig.outcomes(2) == [.rejected(Status.invalidToken.refusal)])
        #expect(resolution.tail.map(\.indices) == [3..<6])
        #expect(try rig.write().map(\.index) == [3, 4, 5])
    }

    @Test func `a shutdown names the last accepted one and rejects nothing`() throws {
        var rig = Rig(6)
        try rig.write()
        let resolution = try rig.reply(.shutdown, naming: 2)
        #expect(rig.accepted == [0, 1, 2])
        #expect(resolution.named == nil && !resolution.hidesRefusal)
        #expect(try rig.write().map(\.index) == [3, 4, 5])
    }

    @Test func `a refusal without a name leaves everything in doubt and is hunted in groups`() throws {
        var rig = Rig(64)
        try rig.write()
        let resolution = rig.end(.reply(ErrorReply(status: .invalidToken, identifier: 0)))
        #expect(resolution.hidesRefusal && resolution.doubtfulCount == 64)
        #expect(rig.settlements.isEmpty && rig.queue.isHunting)
        #expect(try rig.write().map(\.index) == Array(0..<8))
        #expect(rig.queue.isBlocked)
    }

    @Test func `a name that was never issued is no name`() throws {
        var rig = Rig(64)
        try rig.write()
        let resolution = rig.end(.reply(ErrorReply(status: .invalidToken, identifier: 65)))
        #expect(resolution.hidesRefusal && resolution.doubtfulCount == 64 && resolution.named == nil)
        #expect(rig.settlements.isEmpty)
    }

    @Test func `a shutdown without a name leaves doubt but nobody to hunt`() throws {
        var rig = Rig(8)
        try rig.write()
        let resolution = rig.end(.reply(ErrorReply(status: .shutdown, identifier: 0)))
        #expect(resolution.doubtfulCount == 8 && !rig.queue.isHunting)
        #expect(try rig.write().map(\.index) == Array(0..<8))
    }

    @Test func `an app that is refused without a name does not blame its notifications`() throws {
        var rig = Rig(8)
        for _ in 0..<5 {
            try rig.write()
            rig.end(.reply(ErrorReply(status: .missingTopic, identifier: 0)))
        }
        #expect(rig.settlements.isEmpty && !rig.queue.isHunting && rig.queue.count == 8)
    }

    @Test(arguments: [true, false])
    func `the probe's answer proves everything before it, by its name or by none`(isNamed: Bool) throws {
        var rig = Rig(5)
        try rig.write()
        let identifier = try rig.writeProbe()
        let resolution = rig.end(.reply(ErrorReply(status: .missingDeviceToken, identifier: isNamed ? identifier : 0)))
        #expect(rig.accepted == Array(0..<5))
        #expect(resolution.tail.isEmpty && resolution.doubtfulCount == 0 && rig.queue.isBlocked)
    }

    @Test func `a refusal of an earlier one is not the probe's answer`() throws {
        var rig = Rig(5)
        try rig.write()
        _ = try rig.writeProbe()
        try rig.reply(.invalidToken, naming: 3)
        #expect(rig.accepted == [0, 1, 2])
        #expect(try rig.write().map(\.index) == [4])
    }

    @Test func `nothing is written behind the probe`() throws {
        var rig = Rig(5)
        _ = try rig.writeProbe()
        #expect(rig.machine.room == 0 && rig.machine.isProbing)
        #expect(try rig.write().isEmpty && rig.queue.count == 5)
    }

    @Test func `only what the kernel took whole is in doubt`() throws {
        var rig = Rig(6)
        try rig.write(atMost: 2)
        try rig.write(atMost: 2)
        let cut = rig.offset
        try rig.write(atMost: 2)
        let resolution = rig.end(.silent(handedOver: cut + 1))
        #expect(resolution.doubtfulCount == 4)
        #expect(resolution.tail.map(\.indices) == [0..<4, 4..<6] || resolution.tail.flatMap(\.indices) == Array(0..<6))
    }

    @Test func `a cut frame is sent again and cannot be a duplicate`() throws {
        var rig = Rig()
        rig.queue.append(.named(0..<1, onDoubt: .report))
        try rig.write()
        let resolution = rig.end(.silent(handedOver: rig.offset - 1))
        #expect(resolution.doubtfulCount == 0 && rig.settlements.isEmpty)
        #expect(try rig.write().count == 1)
    }

    @Test func `an end without an answer sends again and counts possible duplicates`() throws {
        var rig = Rig(4)
        try rig.write()
        let resolution = rig.end(.silent(handedOver: rig.offset))
        #expect(resolution.doubtfulCount == 4 && !resolution.hidesRefusal)
        #expect(try rig.write().map(\.index) == [0, 1, 2, 3])
    }

    @Test func `an end without an answer makes unknown what must not be sent twice`() throws {
        var rig = Rig()
        rig.queue.append(.named(0..<4, onDoubt: .report))
        try rig.write()
        let resolution = rig.end(.silent(handedOver: rig.offset))
        #expect(resolution.doubtfulCount == 0)
        #expect((0..<4).allSatisfy { rig.outcomes($0) == [.unknown] })
        #expect(try rig.write().isEmpty)
    }

    @Test func `what was settled before the end is not in doubt`() throws {
        var rig = Rig(4)
        try rig.write(atMost: 2)
        rig.acknowledge()
        rig.pass(.seconds(5))
        try rig.write(atMost: 2)
        #expect(rig.end(.silent(handedOver: rig.offset)).tail.map(\.indices) == [2..<4])
        #expect(rig.accepted == [0, 1])
    }

    @Test func `a refused connection has sent nothing`() throws {
        var rig = Rig()
        rig.queue.append(.named(0..<4, onDoubt: .report))
        try rig.write()
        let resolution = rig.end(.refused)
        #expect(resolution.doubtfulCount == 0 && rig.settlements.isEmpty)
        #expect(try rig.write().map(\.index) == [0, 1, 2, 3])
    }

    @Test func `fewer than six bytes and an end are an end without an answer`() throws {
        var rig = Rig(3)
        try rig.write()
        #expect(try rig.receive([8, 8, 0, 0, 0]) == nil)
        #expect(rig.end(.silent(handedOver: rig.offset)).doubtfulCount == 3)
        #expect(rig.settlements.isEmpty)
    }

    @Test func `what was written behind a reply is sent again in its order`() throws {
        var rig = Rig(6)
        try rig.write(atMost: 3)
        try rig.write(atMost: 2)
        try rig.reply(.invalidToken, naming: 0)
        #expect(try rig.write().map(\.index) == [1, 2, 3, 4, 5])
    }

    @Test func `the tail goes before new work of any job`() throws {
        var rig = Rig(3)
        try rig.write()
        rig.queue.append(.named(0..<2, job: 2))
        rig.queue.append(.named(3..<5))
        try rig.reply(.invalidToken, naming: 0)
        #expect(try rig.write().map(\.description) == ["1/1", "1/2", "2/0", "2/1", "1/3", "1/4"])
    }

    @Test func `an error speaks only for its own connection`() throws {
        var queue = SendQueue()
        queue.append(.named(0..<4))
        var machines = [PipelineMachine(options: .init()), PipelineMachine(options: .init())]
        var bytes: [UInt8] = []
        for index in machines.indices {
            var batch = try queue.some(atMost: 2)
            machines[index].write(&batch, to: &bytes)
        }
        #expect(try frames(of: bytes).map(\.frame.identifier) == [1, 2, 1, 2])
        let resolution = machines[1].end(.reply(ErrorReply(status: .invalidToken, identifier: 2)))
        let settled = queue.apply(resolution, at: .zero) { _ in .zero }
        #expect(settled.flatMap(\.batch.indices) == [2, 3])
        #expect(machines[0].doubtCount == 2 && queue.count == 0)
    }
}
