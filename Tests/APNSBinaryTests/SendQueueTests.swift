import APNSBinary
import APNSModel
import Testing

struct SendQueueTests {
    @Test func `jobs take turns, a batch at a time`() {
        var queue = SendQueue()
        for job in 1...3 {
            queue.append(.named(0..<2, job: job))
            queue.append(.named(2..<4, job: job))
        }
        var order: [Int] = []
        while let batch = queue.next(atMost: 100) { order.append(Int(batch.job.bits)) }
        #expect(order == [1, 2, 3, 1, 2, 3])
        #expect(queue.isBlocked && queue.count == 0)
    }

    @Test func `without room nothing is taken`() {
        var queue = SendQueue()
        queue.append(.named(0..<2))
        #expect(queue.next(atMost: 0)?.count == nil && queue.count == 2)
    }

    @Test func `what is put back goes first`() throws {
        var queue = SendQueue()
        queue.append(.named(0..<4))
        queue.append(.named(0..<4, job: 2))
        var batch = try queue.some(atMost: 4)
        _ = batch.removeFirst(1)
        queue.putBack(batch)
        #expect(queue.count == 7)
        #expect(queue.next(atMost: 100)?.names.map(\.description) == ["1/1", "1/2", "1/3"])
    }

    @Test func `removing a job takes its tail, its new work and its turn`() throws {
        var rig = Rig(4)
        try rig.write()
        rig.queue.append(.named(4..<6))
        rig.queue.append(.named(0..<1, job: 2))
        rig.end(.silent(handedOver: 0))
        #expect(rig.queue.remove(JobID(bits: 1)).flatMap(\.indices) == Array(0..<6))
        #expect(rig.queue.count == 1)
        #expect(try rig.write().map(\.description) == ["2/0"])
    }

    @Test func `indices that begin high are handled like any others`() throws {
        var rig = Rig()
        rig.queue.append(.named(5000..<5010))
        try rig.write()
        rig.end(.silent(handedOver: rig.offset))
        #expect(try rig.write().map(\.index) == Array(5000..<5010))
        try rig.reply(.invalidToken, naming: 5004)
        #expect(try rig.write().map(\.index) == Array(5005..<5010))
    }
}
