import APNSBinary
import PushModel
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

    @Test func `a job leaves whole if nothing of it was written, and stays while some is on a connection`() throws {
        var queue = SendQueue()
        queue.append(.named(0..<4))
        let batch = try queue.some(atMost: 1)
        #expect(queue.removeUnwritten(batch.job, count: 4)?.isEmpty == true && queue.count == 3)
        queue.putBack(batch)
        #expect(queue.removeUnwritten(batch.job, count: 4)?.flatMap(\.indices) == [0, 1, 2, 3])
        #expect(queue.count == 0)
    }

    @Test(arguments: [ConnectionEnd.silent(handedOver: 1 << 20), .silent(handedOver: 0), .refused])
    func `a job of which one was written stays, however its connection ended`(end: ConnectionEnd) throws {
        var rig = Rig(4)
        try rig.write(atMost: 1)
        rig.acknowledge()
        rig.end(end)
        #expect(rig.queue.removeUnwritten(JobID(bits: 1), count: 4) == nil && rig.queue.count == 4)
    }

    @Test func `a job that stays keeps the number of its tries`() throws {
        var rig = Rig(1)
        for _ in 1..<SendQueue.tryLimit {
            try rig.write()
            try rig.reply(.processingError, naming: 0)
            #expect(rig.queue.removeUnwritten(JobID(bits: 1), count: 1) == nil)
            rig.ask()
        }
        try rig.write()
        try rig.reply(.processingError, naming: 0)
        #expect(rig.outcomes(0).map(\.kind.rawValue) == ["rejected"] && rig.queue.count == 0)
    }

    @Test func `a job of suspects stays`() throws {
        var rig = Rig(40)
        try rig.write()
        rig.end(.reply(ErrorReply(status: .unknown, identifier: 0)))
        #expect(rig.queue.isHunting)
        #expect(rig.queue.removeUnwritten(JobID(bits: 1), count: 40) == nil && rig.queue.count == 40)
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
