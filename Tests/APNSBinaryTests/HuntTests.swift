import APNSBinary
import PushModel
import Testing

/// Finding a notification that was refused without being named.
struct HuntTests {
    /// A gateway that refuses some notifications and never says which, until nothing is left to do.
    private func hunt(_ bad: Set<Int>, among count: Int, _ options: PipelineMachine.Options = .init()) throws -> Rig {
        var rig = Rig(count, options)
        for _ in 0..<1000 where rig.queue.count > 0 || rig.machine.doubtCount > 0 {
            let group = try rig.write()
            rig.acknowledge()
            guard group.contains(where: { bad.contains($0.index) }) else {
                rig.pass(.seconds(5))
                continue
            }
            let isSimple = options.format == .simple
            let reply = ErrorReply(status: .missingDeviceToken, identifier: 0)
            rig.end(isSimple ? .silent(handedOver: rig.offset) : .reply(reply))
        }
        return rig
    }

    @Test(arguments: [[0], [31], [499], [999], [0, 999], [10, 11, 12], [3, 300, 301, 900]])
    func `the refused ones are found and the others accepted`(bad: [Int]) throws {
        let rig = try hunt(Set(bad), among: 1000)
        #expect(rig.accepted == (0..<1000).filter { !bad.contains($0) })
        #expect(bad.allSatisfy { rig.outcomes($0) == [.rejected(Status.missingDeviceToken.refusal)] })
        #expect(!rig.queue.isHunting && rig.queue.isBlocked)
    }

    @Test(arguments: [1, 2, 7, 8, 9, 64, 1000, 5000])
    func `nobody is sent more than a few times for one refused one`(count: Int) throws {
        let rig = try hunt([count / 2], among: count)
        let most = rig.writeCounts.values.max() ?? 0
        #expect(most <= 8, "sent \(most) times")
        #expect(rig.writeCounts.values.reduce(0, +) <= 3 * count + 20)
    }

    @Test func `a lone one that is refused without a name is tried three times`() throws {
        let rig = try hunt([0], among: 1)
        #expect(rig.writeCounts[Name(job: 1, index: 0)] == 3)
    }

    @Test func `command 0 finds its refused ones by bare closes`() throws {
        let rig = try hunt([17], among: 100, .init(format: .simple))
        #expect(rig.accepted == (0..<100).filter { $0 != 17 })
        #expect(rig.outcomes(17).map(\.refusal?.reason) == ["ClosedWithoutReply"])
    }

    @Test func `new work waits while a hunt is on, and goes on after it`() throws {
        var rig = Rig(16)
        try rig.write()
        rig.end(.reply(ErrorReply(status: .invalidToken, identifier: 0)))
        rig.queue.append(.named(0..<2, job: 2))
        #expect(try rig.write().allSatisfy { $0.job == 1 })
        while rig.queue.isHunting {
            rig.acknowledge()
            rig.pass(.seconds(5))
            try rig.write()
        }
        rig.acknowledge()
        rig.pass(.seconds(5))
        #expect(rig.settlements.count == 18)
    }

    @Test func `what another connection brings back does not end the group that is out`() throws {
        var queue = SendQueue()
        queue.append(.named(0..<80))
        var machines = (0..<3).map { _ in PipelineMachine(options: .init()) }
        var bytes: [UInt8] = []
        for index in 0..<2 {
            var batch = try queue.some(atMost: 40)
            machines[index].write(&batch, to: &bytes)
        }
        _ = queue.apply(machines[0].end(.reply(ErrorReply(status: .invalidToken, identifier: 0))), at: .zero) { _ in
            .zero
        }
        var group = try queue.some(atMost: .max)
        machines[2].write(&group, to: &bytes)
        #expect(queue.isBlocked)
        _ = queue.apply(machines[1].end(.reply(ErrorReply(status: .invalidToken, identifier: 1))), at: .zero) { _ in
            .zero
        }
        #expect(queue.isBlocked && queue.isHunting)
    }

    @Test func `a group that was put back in part is confirmed once it is whole`() throws {
        var queue = SendQueue()
        var machine = PipelineMachine(options: .init())
        var bytes: [UInt8] = []
        queue.append(.named(0..<64))
        var all = try queue.some(atMost: .max)
        machine.write(&all, to: &bytes)
        _ = queue.apply(machine.end(.reply(ErrorReply(status: .invalidToken, identifier: 0))), at: .zero) { _ in .zero }
        var first = try queue.some(atMost: 4)
        let second = try queue.some(atMost: 4)
        let written = first.removeFirst(2)
        queue.putBack(second)
        queue.putBack(first)
        queue.confirm([Settlement(written, .accepted)])
        #expect(try queue.some(atMost: .max).indices == 2..<4)
        #expect(try queue.some(atMost: .max).indices == 4..<8)
        #expect(queue.isBlocked)
        queue.confirm([Settlement(.named(2..<8), .accepted), Settlement(.named(2..<8), .accepted)])
        #expect(!queue.isBlocked)
    }

    @Test func `removing a job ends the hunt in it`() throws {
        var rig = Rig(64)
        try rig.write()
        rig.end(.reply(ErrorReply(status: .invalidToken, identifier: 0)))
        rig.queue.append(.named(0..<2, job: 2))
        #expect(rig.queue.remove(JobID(bits: 1)).flatMap(\.indices) == Array(0..<64))
        #expect(!rig.queue.isHunting && rig.queue.count == 2)
        #expect(try rig.write().count == 2)
    }
}
